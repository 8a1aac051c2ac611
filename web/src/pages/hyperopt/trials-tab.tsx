import { useMemo } from 'react';
import { useCall } from '../../api/queries.ts';
import { decimal } from '../../ui/format.ts';
import { LookAheadWord } from '../../ui/job-list.tsx';
import { Figure, type LookAheadState, Panel } from '../../ui/parts.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { type Column, VirtualTable } from '../../ui/table.tsx';
import { isMoving } from './live.ts';
import type { Objective } from './objective.ts';
import { TRIAL_STATES } from './search.ts';
import { type Point, parameterLabel, pointOf, type Value, valueText, varyingNames } from './trials.ts';
import type { JobView } from './view.ts';

/** A row of the table: a finished trial, or one that runs. */
interface Listed {
  readonly number: number;
  readonly state: (typeof TRIAL_STATES)[number];
  readonly value: number | null;
  readonly at: Point;
}

const STATE_STATUS = {
  running: 'running',
  complete: 'completed',
  pruned: 'cancelled',
  failed: 'failed',
} as const;

function sortable(value: Value | undefined): number | string {
  return typeof value === 'boolean' ? String(value) : (value ?? '');
}

function columnsOf(
  names: readonly string[],
  objective: Objective,
  lookAhead: LookAheadState,
): readonly Column<Listed>[] {
  return [
    {
      key: 'number',
      title: 'Trial',
      width: 72,
      isNumber: true,
      sort: ({ number }) => number,
      cell: ({ number }) => decimal(number, 0),
    },
    {
      key: 'state',
      title: 'State',
      width: 104,
      sort: ({ state }) => state,
      cell: ({ state }) => (
        <span className="status" data-status={STATE_STATUS[state]}>
          {state}
        </span>
      ),
    },
    {
      key: 'value',
      title: objective.label,
      isNumber: true,
      sort: ({ value }) => value,
      cell: ({ value }) => <Figure state={lookAhead}>{objective.withUnit(value)}</Figure>,
    },
    {
      key: 'look_ahead',
      title: 'Look-ahead',
      cell: () => <LookAheadWord state={lookAhead} />,
    },
    ...names.map(
      (name): Column<Listed> => ({
        key: name,
        title: parameterLabel(name),
        isNumber: true,
        sort: ({ at }) => sortable(at[name]),
        cell: ({ at }) => valueText(at[name]),
      }),
    ),
  ];
}

/**
 * Every trial, by state; those that run come from the list, since the stream has finished ones alone.
 * Long because it is the markup of the tab: filters, table and selected trial.
 */
export function TrialsTab({ view }: { readonly view: JobView }) {
  const { job, rows, objective, search, change } = view;
  const moving = isMoving(job);
  const running = useCall(
    'listHyperoptTrials',
    { params: { job_id: job.job_id }, query: { state: 'running', limit: 100 } },
    { enabled: moving, isMoving: () => moving },
  );
  const unfinished = useMemo(() => {
    const ended = new Set(rows.map(({ number }) => number));
    return (moving ? (running.data?.items ?? []) : [])
      .filter(({ number }) => !ended.has(number))
      .map(({ number, params }): Listed => ({ number, state: 'running', value: null, at: pointOf(params) }));
  }, [rows, running.data, moving]);
  const all = useMemo<readonly Listed[]>(() => [...rows, ...unfinished], [rows, unfinished]);
  const shown = useMemo(
    () => (search.state ? all.filter(({ state }) => state === search.state) : all),
    [all, search.state],
  );
  const names = varyingNames(rows).join();
  const lookAhead = job.look_ahead?.state;
  const columns = useMemo(
    () => columnsOf(names === '' ? [] : names.split(','), objective, lookAhead),
    [names, objective, lookAhead],
  );
  const count = (state: Listed['state']) => all.filter((trial) => trial.state === state).length;
  return (
    <Panel
      title={`Trials (${decimal(shown.length, 0)})`}
      actions={
        <select
          aria-label="State of the trials"
          value={search.state ?? ''}
          onChange={({ target }) => change({ state: TRIAL_STATES.find((each) => each === target.value) })}
        >
          <option value="">Every state</option>
          {TRIAL_STATES.map((state) => (
            <option key={state} value={state}>
              {state} ({count(state)})
            </option>
          ))}
        </select>
      }
    >
      {view.isLoading ? (
        <div className="trial-table">
          <Skeleton rows={15} />
        </div>
      ) : shown.length === 0 ? (
        <Empty title={search.state ? `No trial is ${search.state}` : 'No trial yet'} />
      ) : (
        <div className="trial-table">
          <VirtualTable
            rows={shown}
            columns={columns}
            idOf={({ number }) => number}
            label="Trials"
            order={{ key: search.sort ?? 'number', isDescending: (search.order ?? 'desc') === 'desc' }}
            onOrder={({ key, isDescending }) => change({ sort: key, order: isDescending ? 'desc' : 'asc' })}
            selected={search.trial}
            onPick={({ number }) => change({ trial: number })}
          />
        </div>
      )}
    </Panel>
  );
}
