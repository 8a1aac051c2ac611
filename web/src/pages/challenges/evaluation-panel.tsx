import { CheckCircle2, CircleDashed, TriangleAlert } from 'lucide-react';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { decimal, NO_VALUE, signed, tone, value, words } from '../../ui/format.ts';
import { Panel, Tile } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import type { Challenge } from './search.ts';

type Evaluation = ResponseOf<'evaluateChallenge'>;

const VERDICTS = {
  PROMOTE_CHALLENGER: { tone: 'up', text: 'The challenger is better' },
  KEEP_CHAMPION: { tone: 'down', text: 'Keep the champion' },
  ROLLBACK: { tone: 'down', text: 'Roll back' },
  CONTINUE: { tone: undefined, text: 'Not decided yet' },
} as const;

/** How the versions compare now, and what is still missing for a verdict. */
export function EvaluationPanel({ challenge }: { readonly challenge: Challenge }) {
  // The page shows the challenge's own warnings above.
  const isNew = (warning: string) => !challenge.warnings.includes(warning);
  const query = useCall(
    'evaluateChallenge',
    { params: { challenge_id: challenge.challenge_id } },
    { isMoving: () => challenge.status === 'active' },
  );
  return (
    <Panel title="Verdict">
      <Loaded query={query} skeleton={<Skeleton rows={9} />}>
        {(evaluation) => (
          <>
            <Tiles evaluation={evaluation} />
            <div className="pad stack">
              <p className="row">
                <span className="badge" data-tone={VERDICTS[evaluation.recommendation].tone}>
                  {VERDICTS[evaluation.recommendation].text}
                </span>
                <SrmBadge srm={evaluation.srm} />
              </p>
              <Conditions evaluation={evaluation} />
              {evaluation.warnings.filter(isNew).map((warning) => (
                <p key={warning} className="notice" data-tone="warn">
                  {warning}
                </p>
              ))}
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function Tiles({ evaluation }: { readonly evaluation: Evaluation }) {
  const { confidence_interval: interval, open_trades, unrealised } = evaluation;
  const difference = evaluation.challenger_mean - evaluation.champion_mean;
  const perTrade = (percent: number) => `${decimal(percent, 3)} %`;
  return (
    <div className="tiles flush">
      <Tile
        label="Difference a trade"
        value={`${difference > 0 ? '+' : ''}${decimal(difference, 3)} pp`}
        tone={tone(difference)}
        sub={`${perTrade(evaluation.champion_mean)} to ${perTrade(evaluation.challenger_mean)}`}
        definition={`Mean profit of a trade of the challenger less that of the champion, weighted over the stages: ${signed(evaluation.improvement_pct, 'percent')} % of the champion's.`}
      />
      <Tile
        label="95 % interval"
        value={interval ? `${decimal(interval[0]!, 3)} to ${decimal(interval[1]!, 3)}` : NO_VALUE}
        sub="percentage points a trade"
        definition="Confidence sequence of the difference of the means: it may be looked at after every trade."
      />
      <Tile
        label="p-value"
        value={value(evaluation.p_value, 'probability')}
        sub={words(evaluation.p_value_method)}
        definition="Chance of such a difference between equal versions, two-sided."
      />
      <Tile
        label="Trades"
        value={`${evaluation.champion_trades} / ${evaluation.challenger_trades}`}
        sub={
          evaluation.trades_needed === null
            ? 'champion / challenger'
            : `${value(evaluation.trades_needed, 'count')} of each needed`
        }
        definition="Closed trades of the champion and of the challenger that are analyzed. Needed of each: as many as show an improvement of 10 %."
      />
      <Tile
        label="Open trades"
        value={`${open_trades.champion} / ${open_trades.challenger}`}
        sub={`unrealized ${meanOf(unrealised.champion.mean_pct)} / ${meanOf(unrealised.challenger.mean_pct)}`}
        definition="A version that closes its gains and keeps its losses open looks better than it is: compare the unrealized profits."
      />
      <Tile
        label="Errors"
        value={`${evaluation.errors.champion} / ${evaluation.errors.challenger}`}
        sub="champion / challenger"
        definition="Decisions or orders that failed; they are not counted as trades."
      />
    </div>
  );
}

function meanOf(percent: number | null): string {
  return percent === null ? NO_VALUE : `${signed(percent, 'percent')} %`;
}

const SRM = {
  healthy: { tone: 'up', text: 'Assignments match the split' },
  mismatch: { tone: 'down', text: 'Assignments do not match the split' },
  no_assignments: { tone: undefined, text: 'No assignments yet' },
} as const;

/** Sample ratio mismatch: whether both versions got the share of the keys that the split says. */
function SrmBadge({ srm }: { readonly srm: Evaluation['srm'] }) {
  const { tone: color, text } = SRM[srm.status];
  return (
    <span className="badge" data-tone={color} title={`p = ${value(srm.p_value, 'probability')}`}>
      {srm.status === 'mismatch' && <TriangleAlert aria-hidden="true" />} {text}
    </span>
  );
}

const CRITERIA: Readonly<Record<string, string>> = {
  p_value: 'p-value',
  improvement_pct: 'improvement',
  min_trades: 'trades of each',
  open_trade_gap: 'open-trade gap',
};
const UNITS: Readonly<Record<string, string>> = { improvement_pct: ' %', open_trade_gap: ' pp' };
const OPERATORS = { '<': '<', '>': '>', '<=': '≤', '>=': '≥' } as const;

/** A count without decimals, percent with two, other values with four. */
function short(number: number, unit: string): string {
  return decimal(number, Number.isInteger(number) ? 0 : unit ? 2 : 4);
}

/** True if the champion's mean is so near to zero that a percentage of it says nothing. */
function isBaselineNearZero({ warnings }: Evaluation): boolean {
  return warnings.some((warning) => warning.startsWith('baseline_near_zero'));
}

function Conditions({ evaluation }: { readonly evaluation: Evaluation }) {
  const { conditions, criteria } = evaluation;
  const isVoid = isBaselineNearZero(evaluation);
  const lines = [
    ...Object.entries(conditions).map(([name, { value, needed, met }]) => ({
      name,
      isMet: met,
      isMuted: !met,
      text: `${decimal(value, 0)} of ${decimal(needed, 0)} ${name}`,
    })),
    ...criteria.map(({ name, operator, threshold, value, passed }) => {
      const unit = UNITS[name] ?? '';
      const isMeaningless = isVoid && name === 'improvement_pct';
      return {
        name,
        isMet: passed,
        isMuted: !passed || isMeaningless,
        text: `${CRITERIA[name] ?? words(name)}: ${short(value, unit)} ${OPERATORS[operator]} ${short(threshold, unit)}${unit}${isMeaningless ? ', not meaningful' : ''}`,
      };
    }),
  ];
  return (
    <ul className="conditions">
      {lines.map(({ name, isMet, isMuted, text }) => (
        <li key={name} className={isMuted ? 'muted' : 'up'}>
          {isMet ? <CheckCircle2 aria-label="met" /> : <CircleDashed aria-label="not met" />} {text}
        </li>
      ))}
    </ul>
  );
}
