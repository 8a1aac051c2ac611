import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';
import { SIMULATED } from '#contract/values/names.ts';
import type { RequestOf } from '../api/client.ts';
import { type JobStatus, STATUSES } from '../api/jobs.ts';
import { countOf, useCall } from '../api/queries.ts';
import { NO_VALUE, words } from './format.ts';
import { FoundMark, type LookAheadState } from './parts.tsx';

/** Milliseconds without a key after which a typed filter applies. */
const TYPING_PAUSE = 300;

/** A typed filter; undefined while it is empty. */
export function SearchBox(props: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
  /** Values to choose from; any other may be typed. */
  readonly options?: readonly string[];
  readonly onChange: (value: string | undefined) => void;
}) {
  const { label, placeholder, value = '', options, onChange } = props;
  const id = useId();
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    // What was typed here comes back as `value`, and must not overwrite what was typed since.
    if (value === sent.current) return;
    sent.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    const next = typed.trim();
    if (next === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = next;
      latest.current(next || undefined);
    }, TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <>
      <input
        type="search"
        placeholder={placeholder}
        aria-label={label}
        maxLength={200}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        {...(options ? { list: id } : {})}
      />
      {options && (
        <datalist id={id}>
          {options.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** Filter of a list by one of some values. A value that is not among them, such as that of a link, is shown as well. */
export function FilterSelect<T extends string>(props: {
  readonly label: string;
  /** Entry for no filter. */
  readonly all: string;
  readonly values: readonly T[];
  readonly value: T | undefined;
  readonly onChange: (value: T | undefined) => void;
}) {
  const { label, all, values, value, onChange } = props;
  const shown = value === undefined || values.includes(value) ? values : [value, ...values];
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={({ target }) => onChange((target.value || undefined) as T | undefined)}
    >
      <option value="">{all}</option>
      {shown.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
}

interface FilterProps<T extends string> {
  readonly value: T | undefined;
  readonly onChange: (value: T | undefined) => void;
}

export function StrategyFilter(props: FilterProps<string>) {
  const { data } = useCall('listStrategies', {});
  const values = data?.items.map(({ strategy }) => strategy) ?? [];
  return <FilterSelect label="Strategy" all="All strategies" values={values} {...props} />;
}

export function StatusFilter(props: FilterProps<JobStatus>) {
  return <FilterSelect label="Status" all="Every status" values={STATUSES} {...props} />;
}

/**
 * Number of jobs that pass the filters of a list, on all pages.
 *
 * @param noun the jobs in words: `backtest`
 */
export function JobCount(props: {
  readonly operation: 'listBacktests' | 'listHyperopts';
  readonly filters: Omit<NonNullable<RequestOf<'listBacktests'>['query']>, 'sort'>;
  readonly noun: string;
}) {
  const { operation, filters, noun } = props;
  const { data: count } = useQuery(countOf(operation, filters));
  if (!count) return <p className="muted">{NO_VALUE}</p>;
  const { value, relation } = count;
  const number = `${value.toLocaleString('en-GB')}${relation === 'at_least' ? '+' : ''}`;
  return (
    <p className="muted">
      {number} {noun}
      {value === 1 ? '' : 's'}
    </p>
  );
}

/** Way to the other pages of a list, and how far its search reaches. */
export function PageLinks(props: {
  readonly page: {
    readonly next_cursor: string | null;
    readonly searched?: { readonly jobs: number; readonly complete: boolean } | null;
  };
  readonly cursor: string | undefined;
  readonly onCursor: (cursor: string | undefined) => void;
}) {
  const { page, cursor, onCursor } = props;
  const { searched = null, next_cursor } = page;
  const isPartial = searched !== null && !searched.complete;
  if (!isPartial && next_cursor === null && cursor === undefined) return null;
  return (
    <footer className="row pad">
      {cursor !== undefined && (
        <button type="button" className="btn small" onClick={() => onCursor(undefined)}>
          First page
        </button>
      )}
      {next_cursor !== null && (
        <button type="button" className="btn small" onClick={() => onCursor(next_cursor)}>
          Next page
        </button>
      )}
      {isPartial && (
        <span className="muted">
          Search and order cover the newest {searched.jobs.toLocaleString('en-GB')} jobs.
        </span>
      )}
    </footer>
  );
}

/** State of the check in a table. */
export function LookAheadWord({ state }: { readonly state: LookAheadState }) {
  if (state === 'found') return <FoundMark state={state} />;
  return state ? words(state) : NO_VALUE;
}

/** Exchange of a run; `sim` is marked, since its prices are of no market. */
export function Exchange({ name }: { readonly name: string }) {
  if (name !== SIMULATED) return name;
  return (
    <span className="badge" data-tone="warn" title="Simulated prices: no real market">
      {name}
    </span>
  );
}
