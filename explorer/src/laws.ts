// The laws that ship as texts (python/anabranch/laws): what one can begin a law of one's own with.

import balia from "../../python/anabranch/laws/balia.law";
import ewtcp from "../../python/anabranch/laws/ewtcp.law";
import fullyCoupled from "../../python/anabranch/laws/fully-coupled.law";
import gentle from "../../python/anabranch/laws/gentle.law";
import lia from "../../python/anabranch/laws/lia.law";
import olia from "../../python/anabranch/laws/olia.law";
import phi from "../../python/anabranch/laws/phi.law";
import reno from "../../python/anabranch/laws/reno.law";
import semicoupled from "../../python/anabranch/laws/semicoupled.law";

export const shippedLaws: { name: string; text: string }[] = [
  { name: "gentle", text: gentle },
  { name: "reno", text: reno },
  { name: "ewtcp", text: ewtcp },
  { name: "lia", text: lia },
  { name: "olia", text: olia },
  { name: "balia", text: balia },
  { name: "phi", text: phi },
  { name: "semicoupled", text: semicoupled },
  { name: "fully-coupled", text: fullyCoupled },
];
