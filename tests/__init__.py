"""The tests; what several folders call stands in helpers/."""

import os

#: The checkout.
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
