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
WORDS = {
    "delivery": ["parcel", "courier", "shipment", "tracking number", "delivery", "package"],
    "billing": ["invoice", "refund", "payment", "second charge", "discount", "receipt"],
    "technical": ["app", "login", "password", "error message", "update", "website"],
}
MIDDLES = [
    "there is a problem with the {}", "I have a question about the {}", "nobody answers me about the {}",
    "the {} is not what I expected", "what about the {} you promised me", "I am still waiting for news of the {}",
    "I do not understand the {}", "the {} was wrong again", "please look at the {} once more",
    "my neighbour had the same trouble with the {}", "I wrote to you about the {} last week",
    "since Monday I have had nothing but trouble with the {}",
]  # fmt: skip
ASIDES = [
    "", "", "", "as I said on Monday,", "to be honest,", "and I did everything you told me,", "after all this time,",
    "for the order of last week,", "for the blue one,", "once more,",
]  # fmt: skip
NEW = [
    "Good evening, the courier was here again and I was not at home.",
    "Could you look at my invoice? I do not understand it, to be honest.",
    "Hi, since this morning the login is not what it was, and the app is no better.",
    "I wrote to you last week, where is my refund?",
]


def message(stream: np.random.RandomState, topic: str) -> str:
    """Put one message together."""
    parts = [OPENINGS, ASIDES, MIDDLES, WORDS[topic], CLOSINGS]
    opening, aside, middle, word, closing = (part[stream.randint(len(part))] for part in parts)
    middle = middle.format(word)
    body = " ".join(part for part in (opening, aside, middle) if part)
    return f"{body[0].upper()}{body[1:]}. {closing}".strip()


def main() -> None:
    """Write both files."""
    stream = np.random.RandomState(7)
    topics = sorted(WORDS)
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
