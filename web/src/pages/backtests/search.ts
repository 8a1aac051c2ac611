import { STATUSES } from '../../api/jobs.ts';
import { idsOf, idsText } from '../../ui/run-ids.ts';
import { oneOf, present, type Raw, text } from '../../ui/url.ts';

/** State of the list that its URL keeps. An absent field has its default. */
export function listSearch(raw: Raw) {
  return present({
    q: text(raw.q),
    strategy: text(raw.strategy),
    status: oneOf(STATUSES, raw.status),
    experiment: text(raw.experiment),
    pinned: raw.pinned === true ? (true as const) : undefined,
    /** Metric that the service sorts by. Default: newest first. */
    sort: text(raw.sort),
    order: oneOf(['asc', 'desc'], raw.order),
    cursor: text(raw.cursor),
    /** Only columns whose values differ. */
    varying: raw.varying === true ? (true as const) : undefined,
    /** Runs that are picked for a comparison. */
    picked: idsText(idsOf(raw.picked)),
  });
}
export type ListSearch = ReturnType<typeof listSearch>;
