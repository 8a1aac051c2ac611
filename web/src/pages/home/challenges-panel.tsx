import { Link } from '@tanstack/react-router';
import { Hourglass } from 'lucide-react';
import { decimal } from '../../ui/format.ts';
import { Age } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';
import type { Overview } from './data.ts';
import { OverviewPanel, type OverviewProps } from './overview-panel.tsx';

type Challenge = NonNullable<Overview['challenges']>['items'][number];

const HOLDS: Readonly<Record<NonNullable<Challenge['hold']>['reason'], string>> = {
  manual: 'held by hand',
  approval: 'waits for an approval',
  sample_ratio_mismatch: 'held: uneven split',
  open_trades: 'held: open trades differ',
  no_traffic: 'held: no traffic',
};

/** Reason why somebody has to act; undefined while the challenge goes on by itself. */
export function waitsFor({ hold, outcome, promoted_at, next_stage }: Challenge): string | undefined {
  if (outcome === 'challenger_wins' && promoted_at === null) return 'won: waits for its promotion';
  if (hold) return HOLDS[hold.reason];
  const isDue =
    next_stage?.needs_approval === true &&
    next_stage.challenger_trades >= next_stage.trades_needed &&
    Date.parse(next_stage.not_before) <= Date.now();
  return isDue ? HOLDS.approval : undefined;
}

/** Challenges that wait for somebody, then those that go on by themselves. */
export function ChallengesPanel({ query }: OverviewProps) {
  return (
    <OverviewPanel
      query={query}
      title="Challenges"
      rows={5}
      parts={['challenges']}
      actions={
        <Link to="/challenges" className="btn small plain">
          All
        </Link>
      }
    >
      {({ challenges }) => {
        if (!challenges || challenges.items.length === 0) {
          return (
            <Empty title="No challenge is under way">
              A challenge compares a new version with the one in Production.
            </Empty>
          );
        }
        const rows = challenges.items.map((challenge) => ({ challenge, waits: waitsFor(challenge) }));
        const waiting = rows.filter(({ waits }) => waits !== undefined);
        const others = rows.filter(({ waits }) => waits === undefined);
        return (
          <ul className="home-rows home-challenges">
            {[...waiting, ...others].map(({ challenge, waits }) => (
              <ChallengeRow key={challenge.challenge_id} challenge={challenge} waits={waits} />
            ))}
            {challenges.more && <li className="faint">There are more.</li>}
          </ul>
        );
      }}
    </OverviewPanel>
  );
}

export function ChallengeRow(props: { readonly challenge: Challenge; readonly waits: string | undefined }) {
  const { challenge_id, model_name, champion_version, challenger_version } = props.challenge;
  const { traffic_split, created_at } = props.challenge;
  return (
    <li>
      <span className="home-name">
        <Link to="/challenges/$id" params={{ id: challenge_id }}>
          {model_name}
        </Link>
        <span className="muted">
          v{champion_version} vs. v{challenger_version}
        </span>
      </span>
      <span className="home-value">
        {props.waits ? (
          <span className="badge" data-tone="warn">
            <Hourglass aria-hidden="true" /> {props.waits}
          </span>
        ) : (
          <span className="muted">{decimal(traffic_split[1]! * 100, 0)} % of traffic</span>
        )}
      </span>
      <span className="faint home-age">
        <Age at={created_at} />
      </span>
    </li>
  );
}
