"""Words that training has not seen, guessed from those that look like them: inflected, compound, misspelt.

Two words look alike by the share of their character n-grams that they have in common (Dice), beginnings and endings
marked. A guess is the mean of the vectors of the few most alike, as much of each as it is alike.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

SHORTEST, LONGEST = 3, 5  # n-grams
ALIKE, FEW = 0.45, 3  # how alike a word must be to count, and how many count


def ngrams(word: str) -> frozenset[str]:
    """Return the n-grams of a word between its marks; a word of one or two characters has few."""
    marked = f"<{word}>"
    return frozenset(
        marked[start : start + size] for size in range(SHORTEST, LONGEST + 1) for start in range(len(marked) - size + 1)
    )


class Subwords:
    """Finds the words that look like another one."""

    def __init__(self, words: Sequence[str]) -> None:
        self._sizes = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            parts = ngrams(word)
            self._sizes.append(len(parts))
            for part in parts:
                self._places[part].append(place)

    def like(self, word: str) -> list[tuple[int, float]]:
        """Return the places of the words most like this one, and how alike each is; the first of equals first."""
        parts = ngrams(word)
        shared = Counter(place for part in parts for place in self._places.get(part, ()))
        alike = ((place, 2 * count / (len(parts) + self._sizes[place])) for place, count in shared.items())
        near = [(place, share) for place, share in alike if share >= ALIKE]
        return sorted(near, key=lambda found: (-found[1], found[0]))[:FEW]
