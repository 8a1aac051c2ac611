import { useDeferredValue, useMemo } from 'react';
import { ChartFrame } from '../../charts/chart-frame.tsx';
import { Parallel, type ParallelLine, passes } from '../../charts/parallel.tsx';
import type { Scale } from '../../charts/scale.ts';
import { scaleOf } from '../../charts/scale.ts';
import { decimal } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { importanceOf } from './importance.ts';
import { axesOf, type Placed, placedOf } from './landscape.ts';
import { Contour, Slice } from './planes.tsx';
import { keptOf, writtenKept } from './search.ts';
import { parameterLabel, valueText, varyingNames } from './trials.ts';
import type { JobView } from './view.ts';

/**
 * Which parameters matter, and where the good trials are.
 * Long because it is the markup of the tab: importance, slices, pairs of parameters and parallel coordinates.
 */
export function ParametersTab({ view }: { readonly view: JobView }) {
  const { objective, search, change } = view;
  // While events come in, the table and the header go first.
  const rows = useDeferredValue(view.rows);
  const joined = varyingNames(rows).join();
  const names = useMemo(() => (joined === '' ? [] : joined.split(',')), [joined]);
  const placed = useMemo(() => placedOf(rows, objective), [rows, objective]);
  const importance = useMemo(() => importanceOf(rows, names), [rows, names]);
  const axes = useMemo(() => axesOf(rows, names), [rows, names]);
  if (view.isLoading) return <Skeleton rows={24} />;
  if (placed.length < 2 || axes.length === 0) {
    return <Empty title="Two complete trials with different parameters are needed" />;
  }
  const order = importance.length > 0 ? importance.map(({ name }) => name) : names;
  const nameOr = (name: string | undefined, other: string) =>
    name !== undefined && names.includes(name) ? name : other;
  const first = nameOr(search.x, order[0]!);
  const second = nameOr(search.y, order.find((name) => name !== first) ?? first);
  const axis = (name: string) => axes.find((each) => each.name === name)!;
  const plane = { placed, objective, selected: search.trial, onPick: (trial: number) => change({ trial }) };
  return (
    <>
      <Panel title="Importance">
        <ImportanceBars importance={importance} complete={placed.length} />
      </Panel>
      <Panel title="All parameters">
        <ParallelPart view={view} placed={placed} axes={axes} />
      </Panel>
      <div className="cols-2">
        <Panel
          title="One parameter"
          actions={
            <ParameterSelect
              label="Parameter"
              names={names}
              value={nameOr(search.param, order[0]!)}
              onChange={(param) => change({ param })}
            />
          }
        >
          <Slice {...plane} x={axis(nameOr(search.param, order[0]!))} />
        </Panel>
        {names.length > 1 && (
          <Panel
            title="Two parameters"
            actions={
              <>
                <ParameterSelect
                  label="Across"
                  names={names.filter((name) => name !== second)}
                  value={first}
                  onChange={(x) => change({ x })}
                />
                <ParameterSelect
                  label="Up"
                  names={names.filter((name) => name !== first)}
                  value={second}
                  onChange={(y) => change({ y })}
                />
              </>
            }
          >
            <Contour {...plane} x={axis(first)} y={axis(second)} />
          </Panel>
        )}
      </div>
    </>
  );
}

function ParameterSelect(props: {
  readonly label: string;
  readonly names: readonly string[];
  readonly value: string;
  readonly onChange: (name: string) => void;
}) {
  return (
    <select
      aria-label={props.label}
      value={props.value}
      onChange={({ target }) => props.onChange(target.value)}
    >
      {props.names.map((name) => (
        <option key={name} value={name}>
          {parameterLabel(name)}
        </option>
      ))}
    </select>
  );
}

function ImportanceBars(props: {
  readonly importance: ReturnType<typeof importanceOf>;
  readonly complete: number;
}) {
  const { importance, complete } = props;
  return (
    <div className="stack pad">
      {importance.length === 0 ? (
        <p className="muted">
          Needs 20 complete trials with different parameters; there are {complete} complete ones.
        </p>
      ) : (
        <ul className="importance">
          {importance.map(({ name, share }) => (
            <li key={name}>
              <span>{parameterLabel(name)}</span>
              <meter max={1} value={share} aria-label={`Importance of ${parameterLabel(name)}`} />
              <span className="num">{decimal(100 * share, 0)} %</span>
            </li>
          ))}
        </ul>
      )}
      <p className="muted small-text">
        Share of the differences between trials, by rank, that a parameter explains on its own (epsilon
        squared over up to 8 groups of trials by its value, corrected for chance). Combinations of parameters
        are not counted, and the sampler tries more where it is good: read it as a hint where to look.
      </p>
    </div>
  );
}

/** Parallel coordinates of the trials. Long because it is one picture with its choices and its table. */
function ParallelPart(props: {
  readonly view: JobView;
  readonly placed: readonly Placed[];
  readonly axes: readonly Scale[];
}) {
  const { view, placed, axes } = props;
  const { objective, search, change } = view;
  const kept = useMemo(() => keptOf(search.keep), [search.keep]);
  const all = useMemo(
    () => [
      ...axes,
      scaleOf(
        'value',
        objective.label,
        placed.map(({ value }) => value),
      ),
    ],
    [axes, placed, objective],
  );
  const lines = useMemo<readonly ParallelLine[]>(
    () =>
      placed.map(({ row, value, rank }) => ({
        id: row.number,
        rank,
        at: all.map((axis) =>
          axis.name === 'value' ? axis.position(value) : axis.position(row.at[axis.name]!),
        ),
      })),
    [placed, all],
  );
  const shown = useMemo(() => lines.filter((line) => passes(line, all, kept)), [lines, all, kept]);
  const table = useMemo(() => {
    const ids = new Set(shown.map(({ id }) => id));
    const rows = placed.filter(({ row }) => ids.has(row.number)).reverse();
    return {
      titles: ['Trial', ...axes.map(({ label }) => label), objective.label],
      rows: rows.length,
      cell: (index: number, column: number) => {
        const { row, value } = rows[index]!;
        if (column === 0) return String(row.number);
        return column > axes.length ? objective.withUnit(value) : valueText(row.at[axes[column - 1]!.name]);
      },
    };
  }, [shown, placed, axes, objective]);
  const ranges = Object.entries(kept).flatMap(([name, [from, to]]) => {
    const axis = all.find((each) => each.name === name);
    return axis ? [{ name, text: `${axis.label} ${axis.textAt(from)} to ${axis.textAt(to)}` }] : [];
  });
  return (
    <>
      <ChartFrame
        title="Parallel coordinates"
        summary={`${shown.length} of ${lines.length} complete trials over ${axes.map(({ label }) => label).join(', ')}; best ${objective.withUnit(placed.at(-1)?.value)}`}
        size="large"
        table={table}
        legend={
          <span>
            {shown.length} of {lines.length} complete trials. Best tenth in the strong colour, the best thick.
            Drag along an axis to keep a range, click it to let go.
          </span>
        }
      >
        <Parallel
          axes={all}
          lines={lines}
          selected={search.trial}
          kept={kept}
          onKeep={(next) => change({ keep: writtenKept(next) })}
        />
      </ChartFrame>
      <Ranges axes={all} ranges={ranges} kept={kept} change={change} />
    </>
  );
}

const QUARTERS = [
  ['0..0.25', [0, 0.25]],
  ['0.25..0.75', [0.25, 0.75]],
  ['0.75..1', [0.75, 1]],
] as const;
const QUARTER_NAMES = ['lowest quarter', 'middle half', 'highest quarter'] as const;

/** Kept ranges as buttons that remove them, and a way to keep one without dragging. */
function Ranges(props: {
  readonly axes: readonly Scale[];
  readonly ranges: readonly { readonly name: string; readonly text: string }[];
  readonly kept: ReturnType<typeof keptOf>;
  readonly change: JobView['change'];
}) {
  const { axes, ranges, kept, change } = props;
  return (
    <div className="row pad kept-ranges">
      {ranges.map(({ name, text }) => (
        <button
          key={name}
          type="button"
          className="btn small"
          onClick={() =>
            change({
              keep: writtenKept(Object.fromEntries(Object.entries(kept).filter(([each]) => each !== name))),
            })
          }
        >
          {text} <span aria-hidden="true">×</span>
          <span className="sr">: remove</span>
        </button>
      ))}
      <select
        aria-label="Keep a range"
        value=""
        onChange={({ target }) => {
          const [name, quarter] = target.value.split('|');
          const range = QUARTERS.find(([key]) => key === quarter)?.[1];
          if (name && range) change({ keep: writtenKept({ ...kept, [name]: range }) });
        }}
      >
        <option value="">Keep a range …</option>
        {axes.map(({ name, label, textAt }) => (
          <optgroup key={name} label={label}>
            {QUARTERS.map(([key, [from, to]], index) => (
              <option key={key} value={`${name}|${key}`}>
                {label}: {QUARTER_NAMES[index]}, {textAt(from)} to {textAt(to)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </div>
  );
}
