import { idsOf, idsText } from '../../ui/run-ids.ts';
import { oneOf, present, type Raw, text } from '../../ui/url.ts';

export const SCALES = ['percent', 'absolute', 'log'] as const;
export type Scale = (typeof SCALES)[number];

/** State of the comparison that its URL keeps. */
export function compareSearch(raw: Raw) {
  const ids = idsOf(raw.ids);
  return present({
    ids: idsText(ids),
    /** Run that the others are measured against. Default: the first one. */
    base: oneOf(ids, text(raw.base)),
    /** Scale of the equity. Default: percent. */
    scale: oneOf(SCALES, raw.scale),
    /** Only rows whose values differ. */
    only: raw.only === true ? (true as const) : undefined,
  });
}
export type CompareSearch = ReturnType<typeof compareSearch>;
