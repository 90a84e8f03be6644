"""What is known: methods of efficient training, their evidence, and two taxonomies.

Imports nothing of ours.
"""

from .errors import CatalogError, PredicateError
from .fields import SETUP_FIELDS, FieldType, SetupField
from .method import Evidence, Expectation, How, Method, Placement, Reference
from .predicates import Answer, Needs, Predicate, Truth, parse_predicate
from .registry import Catalog, load_catalog
from .vocabulary import (
    Action,
    Bottleneck,
    Category,
    Component,
    Direction,
    Equivalence,
    GainKind,
    Grade,
    Metric,
    Risk,
    Scope,
    Subcategory,
    Subcomponent,
    Tier,
)

__all__ = [
    "SETUP_FIELDS",
    "Action",
    "Answer",
    "Bottleneck",
    "Catalog",
    "CatalogError",
    "Category",
    "Component",
    "Direction",
    "Equivalence",
    "Evidence",
    "Expectation",
    "FieldType",
    "GainKind",
    "Grade",
    "How",
    "Method",
    "Metric",
    "Needs",
    "Placement",
    "Predicate",
    "PredicateError",
    "Reference",
    "Risk",
    "Scope",
    "SetupField",
    "Subcategory",
    "Subcomponent",
    "Tier",
    "Truth",
    "load_catalog",
    "parse_predicate",
]
