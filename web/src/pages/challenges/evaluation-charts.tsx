import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { Chart, type ChartPane, type ChartX } from '../../charts/chart.tsx';
import { decimal, NO_VALUE, signed } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import type { Challenge } from './search.ts';

type Step = ResponseOf<'listChallengeEvaluations'>['items'][number];

/** Interval of the difference over time with the zero line, and the equity per trade of both versions. */
export function EvaluationCharts({ challenge }: { readonly challenge: Challenge }) {
  const query = useCall(
    'listChallengeEvaluations',
    { params: { challenge_id: challenge.challenge_id }, query: { limit: 1000 } },
    { isMoving: () => challenge.status === 'active' },
  );
  return (
    <Loaded query={query} skeleton={<Skeleton rows={18} />}>
      {({ items }) =>
        items.length < 2 ? (
          <Panel title="Over time">
            <Empty title="Too few trades for a chart">
              The comparison is drawn as soon as trades of both versions are logged.
            </Empty>
          </Panel>
        ) : (
          <Steps steps={items} />
        )
      }
    </Loaded>
  );
}

const count = (number: number) => decimal(number, 0);
const points = (number: number) => `${decimal(number, 3)} pp`;
const percent = (number: number | null) => (number === null ? NO_VALUE : `${signed(number, 'percent')} %`);

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const { x, interval, means } = useMemo(() => chartsOf(steps), [steps]);
  const last = steps.at(-1)!;
  return (
    <div className="cols-2">
      <div className="panel">
        <Chart
          title="Difference of the means"
          summary={`Last ${points(last.difference)} a trade, p-value ${decimal(last.p_value, 4)}`}
          x={x}
          panes={interval}
        />
      </div>
      <div className="panel">
        <Chart
          title="Equity per trade"
          summary={`Champion ${percent(last.mean.champion)} over ${last.champion_trades} trades, challenger ${percent(last.mean.challenger)} over ${last.challenger_trades}`}
          x={x}
          panes={means}
        />
      </div>
    </div>
  );
}

function chartsOf(unordered: readonly Step[]): {
  readonly x: ChartX;
  readonly interval: readonly ChartPane[];
  readonly means: readonly ChartPane[];
} {
  const steps = [...unordered].sort((a, b) => a.sequence - b.sequence);
  const x: ChartX = {
    title: 'Time, UTC',
    isTime: true,
    values: steps.map(({ evaluated_at }) => Date.parse(evaluated_at) / 1_000),
  };
  return { x, interval: [intervalPane(steps)], means: meanPanes(steps) };
}

function intervalPane(steps: readonly Step[]): ChartPane {
  const bound = (index: 0 | 1) =>
    steps.map(({ confidence_interval }) => confidence_interval?.[index] ?? null);
  const line = { kind: 'step', format: points } as const;
  const differences = steps.map(({ difference }) => difference);
  return {
    unit: ' pp',
    baselines: [0],
    series: [
      { ...line, title: 'Difference', color: 'series-1', values: differences },
      { ...line, title: 'Lower', color: 'faint', isDashed: true, values: bound(0) },
      { ...line, title: 'Upper', color: 'faint', isDashed: true, values: bound(1) },
    ],
  };
}

/** The running mean profit of a trade of both versions, and the trades behind it. */
function meanPanes(steps: readonly Step[]): readonly ChartPane[] {
  const champion = { color: 'series-1', kind: 'step' } as const;
  const challenger = { color: 'series-2', kind: 'step' } as const;
  const valuesOf = (read: (step: Step) => number | null) => steps.map(read);
  const [means, counts] = [{ format: percent }, { format: count }];
  return [
    {
      unit: ' %',
      baselines: [0],
      series: [
        { ...champion, ...means, title: 'Champion', values: valuesOf(({ mean }) => mean.champion) },
        { ...challenger, ...means, title: 'Challenger', values: valuesOf(({ mean }) => mean.challenger) },
      ],
    },
    {
      unit: ' trades',
      series: [
        {
          ...champion,
          ...counts,
          title: 'Trades of the champion',
          values: valuesOf((step) => step.champion_trades),
        },
        {
          ...challenger,
          ...counts,
          title: 'Trades of the challenger',
          values: valuesOf((step) => step.challenger_trades),
        },
      ],
    },
  ];
}
