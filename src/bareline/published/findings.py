"""The statements of publications in words, and the checks of these statements with a run."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bareline.published.quantities import Condition

#: Kind of a claim, which determines the compared figures.
CheckKind = Literal["ratio", "grows", "rise", "more", "order", "trials"]


#: The statement of a document on how a platform compares with another platform.
Expectation = Literal["worse", "better", "equal"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ClaimCheck(_Table):
    """A ``[[finding.check]]``: the figures of a run that decide whether a claim is confirmed.

    - `kind`: the form of the claim about `platform`. ``ratio``: the platform is worse than, better
      than or equal to `against`. ``grows``: its loss is larger on the most ranks than on the
      fewest. ``rise``: its loss is larger on two nodes than on one. ``more``: its loss is larger in
      `probe` than the mean loss in `than`. ``order``: the platform is worse, or better, than each
      of `against` on every number of ranks. ``trials``: an event occurs in a share of its trials:
      `metric` is above zero or, if `below` is given, less than `below` times the median of the
      trials.
    - `probe`, `than`: patterns of probes; ``*`` matches anything.
    - `platform`, `against`: ids of the document's platforms; only ``order`` has several in
      `against`, and ``trials`` has none.
    - `expect`: the statement of the document: "worse", "better" or "equal".
    - `within`: for "equal", the largest ratio that counts as equal.
    - `degree`: the ratio that words such as "much", "clearly" or "by far" mean, if the document
      prints no figure.
    - `ties`: whether equality also confirms the claim. For example, the "fastest" platform may be
      as fast as another platform.
    - `printed`: ids of the results that print the figure; for ``trials`` the id of the listed
      trials.
    - `printed_first`: ids of the results that print the first figure of ``grows``, ``rise`` or
      ``more``.
    """

    kind: CheckKind
    probe: Annotated[list[str], Field(min_length=1)]
    metric: str
    platform: str
    against: list[str] = []
    at: dict[str, Condition] = {}
    than: list[str] = []
    expect: Expectation = "worse"
    within: Annotated[Decimal, Field(gt=1)] | None = None
    degree: Annotated[Decimal, Field(gt=1)] | None = None
    ties: bool = False
    below: Annotated[Decimal, Field(gt=0, lt=1)] | None = None
    printed: list[str] = []
    printed_first: list[str] = []

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.expect == "equal") != (self.within is not None):
            raise ValueError(
                "expect = \"equal\" needs the key 'within', which no other value of expect may have"
            )
        if (self.kind == "more") != bool(self.than):
            raise ValueError("kind = \"more\" needs the key 'than', which no other kind may have")
        if (self.kind == "trials") == bool(self.against):
            raise ValueError(
                'each kind except "trials" needs the key \'against\', and kind = "trials" may'
                " not have it"
            )
        if self.below is not None and self.kind != "trials":
            raise ValueError("only kind = \"trials\" may have the key 'below'")
        if self.kind == "trials" and len(self.printed) != 1:
            raise ValueError("kind = \"trials\" needs exactly one list of trials in 'printed'")
        return self

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if len(self.against) > 1 and self.kind != "order":
            raise ValueError("only kind = \"order\" may have several platforms in 'against'")
        if self.expect != "worse" and self.kind not in ("ratio", "order"):
            raise ValueError(f'kind = "{self.kind}" needs expect = "worse"')
        if self.expect == "equal" and (self.ties or self.degree):
            raise ValueError("expect = \"equal\" may have neither 'ties' nor 'degree'")
        if self.ties and self.degree:
            raise ValueError(
                "a claim may not have both 'ties' and 'degree'; remove one of the two keys"
            )
        if self.printed_first and self.kind not in ("grows", "rise", "more"):
            raise ValueError(f"kind = \"{self.kind}\" may not have the key 'printed_first'")
        return self

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms of the document that the check needs."""
        return (self.platform, *self.against)


class PublishedFinding(_Table):
    """A ``[[finding]]``: a claim of the document, in bareline's words.

    - `claim`: a short form of the statement for a table; empty if the statement is short enough.
    - `checks`: comparisons with a run. The first one for which the run has values is decisive.
    - `unmeasured`: the reason why no probe can decide the claim. Either `checks` or `unmeasured` is
      given.
    """

    benchmark: str = ""
    platform: str = ""
    statement: str
    claim: str = ""
    part: str
    where: str
    checks: Annotated[list[ClaimCheck], Field(alias="check")] = []
    unmeasured: str = ""

    @model_validator(mode="after")
    def _is_checked_or_unmeasured(self) -> Self:
        if bool(self.checks) == bool(self.unmeasured):
            raise ValueError(
                f"the statement '{self.statement}' needs either the key 'check' or the key "
                "'unmeasured'"
            )
        return self

    @property
    def words(self) -> str:
        """The claim in one line."""
        return self.claim or self.statement.rstrip(".")
