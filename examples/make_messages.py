"""Writes messages.csv and new.csv: made-up messages to a shop, in which a few words decide the topic.

python examples/make_messages.py
"""

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
ROWS = 600

OPENINGS = [
    "Hello,", "Hi there,", "Good morning,", "Dear team,", "To whom it may concern,", "Hey,", "", "", "",
    "Second message this week:", "Sorry to bother you again,", "Quick one:",
]  # fmt: skip
CLOSINGS = [
    "", "", "", "Thanks.", "Please answer soon.", "Best, Ana", "Regards, Tom", "Can somebody help?", "🙂", "Thank you!",
    "I have been a customer for years.", "What should I do now?", '"Soon" is not an answer.',
]  # fmt: skip
MIDDLES = {
    "delivery": [
        "my parcel has still not arrived", "the courier left it with a neighbour nobody knows",
        "the tracking page has said the same for six days", "when will it be shipped to my address",
        "the driver never rang, and now it is at a depot", "my parcel went to the old address",
        "I waited at home all day and no courier came",
    ],
    "billing": [
        "I was charged twice for one order", "the invoice shows the wrong amount", "please refund the second payment",
        "my card was charged although I cancelled", "the discount is missing on my invoice",
        "I am still waiting for the refund you promised", "why is there a fee on my invoice",
    ],
    "technical": [
        "the app crashes whenever I open it", "I cannot log in since the update", "the screen stays black when I tap",
        "the password reset email does not work", "after the update the app is very slow",
        "an error comes up when I log in", "the website shows an error on my phone",
    ],
}  # fmt: skip
ASIDES = [
    "", "", "", "as I said on Monday,", "to be honest,", "and I did everything you told me,", "after all this time,",
    "for the order of last week,", "for the blue one,", "once more,",
]  # fmt: skip
NEW = [
    "Good evening, the courier was here but my parcel was open.",
    "Could you send me the invoice again? The amount looks wrong, to be honest.",
    "Hi, since this morning I cannot log in on my phone, it shows an error.",
    "I cancelled last week, where is my refund?",
]


def message(stream: np.random.RandomState, topic: str) -> str:
    """Put one message together."""
    parts = [OPENINGS, ASIDES, MIDDLES[topic], CLOSINGS]
    opening, aside, middle, closing = (part[stream.randint(len(part))] for part in parts)
    body = " ".join(part for part in (opening, aside, middle) if part)
    return f"{body[0].upper()}{body[1:]}. {closing}".strip()


def main() -> None:
    """Write both files."""
    stream = np.random.RandomState(7)
    topics = sorted(MIDDLES)
    with (FOLDER / "messages.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["message", "topic"])
        for row in range(ROWS):
            topic = topics[row % len(topics)]
            writer.writerow([message(stream, topic), topic])
    with (FOLDER / "new.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["message"])
        writer.writerows([text] for text in NEW)


if __name__ == "__main__":
    main()
