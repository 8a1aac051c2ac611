import { CheckCircle2, CircleDashed } from 'lucide-react';
import { decimal, NO_VALUE, signed, tone, value, words } from '../../ui/format.ts';
import { Panel, Tile } from '../../ui/parts.tsx';
import type { Challenge } from './search.ts';
import {
  differenceText,
  type Evaluation,
  headlineOf,
  type Requirement,
  requirementsOf,
  versionWithoutTrades,
} from './verdict.ts';

interface VerdictProps {
  readonly challenge: Challenge;
  readonly evaluation: Evaluation;
}

/** The verdict in one sentence, the figures behind it, and what it still needs. */
export function VerdictPanel({ challenge, evaluation }: VerdictProps) {
  const headline = headlineOf(challenge, evaluation);
  // The page shows the challenge's own warnings above.
  const warnings = evaluation.warnings.filter((warning) => !challenge.warnings.includes(warning));
  return (
    <Panel title="Verdict">
      <p className="verdict" data-tone={headline.tone}>
        {headline.text}
      </p>
      <Tiles evaluation={evaluation} />
      <div className="pad stack">
        <Requirements requirements={requirementsOf(evaluation)} />
        {warnings.map((warning) => (
          <p key={warning} className="notice" data-tone="warn">
            {warning}
          </p>
        ))}
      </div>
    </Panel>
  );
}

function Tiles({ evaluation }: { readonly evaluation: Evaluation }) {
  const { open_trades, unrealised, effective_min_trades } = evaluation;
  const hasTrades = versionWithoutTrades(evaluation) === undefined;
  const difference = evaluation.challenger_mean - evaluation.champion_mean;
  const interval = hasTrades ? evaluation.confidence_interval : null;
  const perTrade = (percent: number) => `${decimal(percent, 3)} %`;
  return (
    <div className="tiles flush">
      <Tile
        label="Difference"
        value={hasTrades ? differenceText(evaluation) : NO_VALUE}
        tone={hasTrades ? tone(difference) : ''}
        sub={
          hasTrades
            ? `${perTrade(evaluation.champion_mean)} to ${perTrade(evaluation.challenger_mean)}`
            : 'no trades to compare'
        }
        definition={`Mean profit of a trade of the challenger less that of the champion, weighted over the stages${hasTrades ? `: ${signed(evaluation.improvement_pct, 'percent')} % of the champion's` : ''}.`}
      />
      <Tile
        label="95 % interval"
        value={interval ? `${decimal(interval[0]!, 3)} to ${decimal(interval[1]!, 3)}` : NO_VALUE}
        sub="percentage points a trade"
        definition="Confidence sequence of the difference of the means: it may be looked at after every trade."
      />
      <Tile
        label="p-value"
        value={hasTrades ? value(evaluation.p_value, 'probability') : NO_VALUE}
        sub={words(evaluation.p_value_method)}
        definition="Chance of such a difference between equal versions, two-sided."
      />
      <Tile
        label="Closed trades"
        value={`${evaluation.champion_trades} / ${evaluation.challenger_trades}`}
        sub={`${value(effective_min_trades, 'count')} of each are required`}
        definition="Closed trades of the champion and of the challenger that count. A verdict needs the required number of each, whatever they show."
      />
      <Tile
        label="Sample for a 10 % effect"
        value={value(evaluation.trades_needed, 'count')}
        sub="trades of each version"
        definition="Trades of each version that would show an improvement of 10 % with a power of 80 %, by the spread of the trades so far. It is no requirement: with fewer trades only a larger difference shows."
      />
      <Tile
        label="Open trades"
        value={`${open_trades.champion} / ${open_trades.challenger}`}
        sub={
          open_trades.champion + open_trades.challenger === 0
            ? 'champion / challenger'
            : `unrealized ${meanOf(unrealised.champion.mean_pct)} / ${meanOf(unrealised.challenger.mean_pct)}`
        }
        definition="A version that closes its gains and keeps its losses open looks better than it is: compare the unrealized profits."
      />
    </div>
  );
}

function meanOf(percent: number | null): string {
  return percent === null ? NO_VALUE : `${signed(percent, 'percent')} %`;
}

function Requirements({ requirements }: { readonly requirements: readonly Requirement[] }) {
  return (
    <ul className="conditions">
      {requirements.map(({ name, now, needs, isMet, isVoid = false }) => (
        <li key={name} className={!isMet || isVoid ? 'muted' : 'up'}>
          {isMet ? <CheckCircle2 aria-label="met" /> : <CircleDashed aria-label="not met" />}
          <span>
            {name}: {now}, needs {needs}
            {isVoid && '; not meaningful'}
          </span>
        </li>
      ))}
    </ul>
  );
}
