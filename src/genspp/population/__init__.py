"""Engines that judge many generators, each by a predictor trained from scratch behind it."""
