// The laws that ship as texts (python/anabranch/laws): templates for a law of one's own.

import laws from "shipped-laws";

export const shippedLaws: { name: string; text: string }[] = Object.entries(laws).map(([name, text]) => ({
  name,
  text,
}));
