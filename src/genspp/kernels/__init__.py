"""All compiled code: vectors as values, the GRU and the layers around it, losses, Adam; forwards and back."""
