import { decimal, value, words } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { Challenge } from './search.ts';
import { type Evaluation, versionWithoutTrades } from './verdict.ts';

interface Guardrail {
  readonly name: string;
  readonly now: string;
  readonly limit: string;
  readonly state: 'ok' | 'broken' | 'no limit' | 'no data';
  /** What happens beyond the limit. */
  readonly action: string;
}

const TONES = { ok: 'up', broken: 'down' } as const;

const COLUMNS: readonly Column<Guardrail>[] = [
  { key: 'name', title: 'Guardrail', cell: ({ name }) => name },
  {
    key: 'state',
    title: 'State',
    cell: ({ state }) => (
      <span className="badge" data-tone={TONES[state as keyof typeof TONES]}>
        {state}
      </span>
    ),
  },
  { key: 'now', title: 'Now', isNumber: true, cell: ({ now }) => now },
  { key: 'limit', title: 'Limit', isNumber: true, cell: ({ limit }) => limit },
  { key: 'action', title: 'Beyond it', isWideOnly: true, cell: ({ action }) => action },
];

/** Limits that end or hold the challenge by themselves, and where it stands. */
export function GuardrailsPanel(props: { readonly challenge: Challenge; readonly evaluation: Evaluation }) {
  return (
    <Panel title="Guardrails">
      <div className="list">
        <Table
          label="Guardrails and their limits"
          rows={guardrailsOf(props.challenge, props.evaluation)}
          columns={COLUMNS}
          idOf={({ name }) => name}
        />
      </div>
    </Panel>
  );
}

function guardrailsOf(challenge: Challenge, evaluation: Evaluation): readonly Guardrail[] {
  const { challenger_drawdown_pct, max_drawdown_pct, challenger_errors, max_errors, reason } = challenge;
  const { srm, criteria, confidence_interval: interval } = evaluation;
  const gap = criteria.find(({ name }) => name === 'open_trade_gap')!;
  const hasTrades = versionWithoutTrades(evaluation) === undefined;
  const points = (percent: number) => `${decimal(percent, 2)} pp`;
  return [
    {
      name: 'Harm',
      now: hasTrades && interval ? `${decimal(interval[1]!, 3)} pp at best` : 'no trades yet',
      limit: 'not below 0',
      state: reason === 'harm' ? 'broken' : hasTrades ? 'ok' : 'no data',
      action: 'rolls back: the challenger is significantly worse',
    },
    {
      name: 'Drawdown of the challenger',
      now: points(challenger_drawdown_pct),
      ...limitOf(challenger_drawdown_pct, max_drawdown_pct, points),
      action: 'rolls back',
    },
    {
      name: 'Errors of the challenger',
      now: value(challenger_errors, 'count'),
      ...limitOf(challenger_errors, max_errors, (count) => value(count, 'count')),
      action: 'rolls back',
    },
    {
      name: 'Difference of the shares of open trades',
      now: points(gap.value),
      limit: points(gap.threshold),
      state: gap.passed ? 'ok' : 'broken',
      action: 'no verdict for the challenger',
    },
    {
      name: 'Assignments match the split',
      now:
        srm.status === 'no_assignments' ? words(srm.status) : `p-value ${value(srm.p_value, 'probability')}`,
      limit: 'not below 0.001',
      state: srm.status === 'no_assignments' ? 'no data' : srm.status === 'healthy' ? 'ok' : 'broken',
      action: 'holds the challenge',
    },
  ];
}

function limitOf(now: number, limit: number | null, text: (limit: number) => string) {
  if (limit === null) return { limit: 'none', state: 'no limit' as const };
  return { limit: text(limit), state: now > limit ? ('broken' as const) : ('ok' as const) };
}
