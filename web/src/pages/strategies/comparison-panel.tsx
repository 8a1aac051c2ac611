import metrics from 'virtual:metrics';
import { getRouteApi } from '@tanstack/react-router';
import { CheckCircle2, XCircle } from 'lucide-react';
import type { MetricUnit } from '#contract/values/metric-labels.ts';
import { UNDEFINED_REASONS, withNote } from '#contract/values/undefined-metrics.ts';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { SelectField } from '../../forms/choices.tsx';
import { decimal, NO_VALUE, signed, tone, value } from '../../ui/format.ts';
import { Exchange, LookAheadWord } from '../../ui/job-list.tsx';
import { Figure, Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';

type Comparison = ResponseOf<'compareVersions'>;
type Row = readonly [name: string, metric: Comparison['metrics'][string]];

const route = getRouteApi('/strategies/$name');

const TONES = { PROMOTE: 'up', REJECT: 'down', INCONCLUSIVE: 'warn' } as const;
const DECISIONS = {
  PROMOTE: 'The challenger is better',
  REJECT: 'The challenger is not better',
  INCONCLUSIVE: 'The data do not decide',
} as const;

/** A version and its stage. */
interface Staged {
  readonly version: string;
  readonly stage: string;
}

/**
 * Two versions on their registered backtests, with guardrails and confidence. Until others are chosen they are the champion, and the
 * newest staged version or else the newest one.
 */
export function ComparisonPanel(props: { readonly name: string; readonly versions: readonly Staged[] }) {
  const search = route.useSearch();
  const { a, b } = { ...presetOf(props.versions), ...search };
  const navigate = route.useNavigate();
  const options = props.versions.map(({ version }) => ({ value: version, label: `v${version}` }));
  const pick = (side: 'a' | 'b') => (version: string | undefined) =>
    void navigate({
      search: (before) => ({ ...before, [side]: version }),
      replace: true,
      resetScroll: false,
    });
  return (
    <Panel title="Comparison">
      <div className="fields pad">
        <SelectField
          label="Champion"
          path="version_a"
          placeholder="Choose"
          options={options}
          value={a}
          onChange={pick('a')}
        />
        <SelectField
          label="Challenger"
          path="version_b"
          placeholder="Choose"
          options={options}
          value={b}
          onChange={pick('b')}
        />
      </div>
      {a && b ? (
        <ComparisonResult name={props.name} a={a} b={b} />
      ) : (
        <Empty title="Choose two versions">Their registered backtests are compared, trade by trade.</Empty>
      )}
    </Panel>
  );
}

/** @param versions newest first */
function presetOf(versions: readonly Staged[]): { readonly a?: string; readonly b?: string } {
  const champion = versions.find(({ stage }) => stage === 'Production');
  if (!champion) return {};
  const others = versions.filter((each) => each !== champion);
  const challenger = others.find(({ stage }) => stage === 'Staging') ?? others[0];
  return { a: champion.version, ...(challenger && { b: challenger.version }) };
}

function ComparisonResult({ name, a, b }: { readonly name: string; readonly a: string; readonly b: string }) {
  const query = useCall('compareVersions', { params: { name }, query: { version_a: a, version_b: b } });
  return (
    <Loaded query={query} skeleton={<Skeleton rows={8} />}>
      {(comparison) => (
        <>
          <div className="pad stack">
            <ComparisonVerdict comparison={comparison} />
          </div>
          <div className="comparison">
            <Table
              label="Metrics of both versions"
              rows={Object.entries(comparison.metrics)}
              columns={columnsOf(comparison)}
              idOf={([metric]) => metric}
            />
          </div>
        </>
      )}
    </Loaded>
  );
}

/** Whether the challenger is better, how sure that is, and what speaks against it. */
export function ComparisonVerdict({ comparison }: { readonly comparison: Comparison }) {
  return (
    <>
      <p className="row">
        <span className="badge" data-tone={TONES[comparison.decision]}>
          {DECISIONS[comparison.decision]}
        </span>
        <span>
          Confidence {decimal(comparison.confidence * 100, 1)} % (
          {comparison.confidence_method === 'welch'
            ? 'Welch’s test on the profit of each trade'
            : 'share of the metrics that agree'}
          ), {comparison.sample_sizes.a} and {comparison.sample_sizes.b} trades
        </span>
      </p>
      <p>{comparison.recommendation}</p>
      {(['a', 'b'] as const).map((side) => (
        <p key={side} className="row">
          v{comparison[`version_${side}`]} <Exchange name={comparison.exchange[side]} />
          Look-ahead: <LookAheadWord state={comparison.look_ahead[side]} />
        </p>
      ))}
      {[
        ...comparison.differences.map(({ field, a, b }) => `${field}: ${a} and ${b}`),
        ...comparison.warnings,
      ].map((text) => (
        <p key={text} className="notice" data-tone="warn">
          {text}
        </p>
      ))}
      <ul className="stack">
        {comparison.guardrails.map(({ name, status, message }) => (
          <li
            key={name}
            className={`guardrail ${status === 'passed' ? 'up' : status === 'broken' ? 'down' : ''}`}
          >
            {status === 'passed' ? <CheckCircle2 aria-hidden="true" /> : <XCircle aria-hidden="true" />}
            Guardrail {status}: {message}
          </li>
        ))}
      </ul>
    </>
  );
}

function unitOf(name: string): MetricUnit {
  return metrics.definitions[name]?.unit ?? 'ratio';
}

/** A value of a comparison, or why its number stands for none. */
function cellText([name, { reasons, ...values }]: Row, side: 'a' | 'b'): string {
  const reason = reasons?.[side];
  if (!reason) return value(values[side], unitOf(name));
  return withNote(name, null, UNDEFINED_REASONS[reason], NO_VALUE);
}

const columnsOf = ({ look_ahead }: Comparison): readonly Column<Row>[] => [
  { key: 'metric', title: 'Metric', cell: ([name]) => metrics.definitions[name]?.label ?? name },
  {
    key: 'a',
    title: 'Champion',
    isNumber: true,
    cell: (row) => <Figure state={look_ahead.a}>{cellText(row, 'a')}</Figure>,
  },
  {
    key: 'b',
    title: 'Challenger',
    isNumber: true,
    cell: (row) => <Figure state={look_ahead.b}>{cellText(row, 'b')}</Figure>,
  },
  {
    key: 'improvement',
    title: 'Improvement %',
    isNumber: true,
    tone: ([, { direction, improvement, notes }]) => {
      // A percentage of nearly nothing says nothing.
      if (notes.includes('baseline_near_zero')) return 'faint';
      return direction === 'none' ? '' : tone(improvement);
    },
    cell: ([, { improvement }]) => signed(improvement, 'percent'),
  },
];
