import { STATUSES } from '../../api/jobs.ts';
import { natural, oneOf, present, type Raw, text } from '../../ui/url.ts';

/** What the URLs of the hyperopt pages hold. Values that do not fit are dropped: a link from elsewhere must not break a page. */

const SORTS = ['best_value', 'progress'] as const;

export function listSearch(raw: Raw) {
  return present({
    q: text(raw.q),
    strategy: text(raw.strategy),
    status: oneOf(STATUSES, raw.status),
    sort: oneOf(SORTS, raw.sort),
    order: oneOf(['asc', 'desc'], raw.order),
    cursor: text(raw.cursor),
  });
}
export type ListSearch = ReturnType<typeof listSearch>;

export function newSearch(raw: Raw) {
  return present({ from: text(raw.from), strategy: text(raw.strategy) });
}

const TABS = ['overview', 'trials', 'parameters', 'result', 'settings'] as const;
export const TRIAL_STATES = ['running', 'complete', 'pruned', 'failed'] as const;

/** Ranges kept on the axes of the parallel coordinates: `name:from..to`, in shares of the axis, joined by `;`. */
export type Kept = Readonly<Record<string, readonly [from: number, to: number]>>;

export function keptOf(written: string | undefined): Kept {
  const entries = (written ?? '').split(';').flatMap((part) => {
    const match = /^(.+):(\d(?:\.\d+)?)\.\.(\d(?:\.\d+)?)$/.exec(part);
    if (!match) return [];
    const [from, to] = [Number(match[2]), Number(match[3])];
    return from <= to && to <= 1 ? [[match[1]!, [from, to] as const] as const] : [];
  });
  return Object.fromEntries(entries);
}

export function writtenKept(kept: Kept): string | undefined {
  const rounded = (share: number) => Number(share.toFixed(3));
  const parts = Object.entries(kept).map(([name, [from, to]]) => `${name}:${rounded(from)}..${rounded(to)}`);
  return parts.length > 0 ? parts.join(';') : undefined;
}

export function detailSearch(raw: Raw) {
  return present({
    tab: oneOf(TABS, raw.tab),
    trial: natural(raw.trial),
    state: oneOf(TRIAL_STATES, raw.state),
    sort: text(raw.sort),
    order: oneOf(['asc', 'desc'], raw.order),
    keep: writtenKept(keptOf(text(raw.keep))),
    param: text(raw.param),
    x: text(raw.x),
    y: text(raw.y),
  });
}
export type DetailSearch = ReturnType<typeof detailSearch>;
