import { Link } from '@tanstack/react-router';
import { Hourglass } from 'lucide-react';
import { useCall } from '../../api/queries.ts';
import { Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { ApprovalList } from '../strategies/approval-list.tsx';
import { waitsFor } from './challenges-panel.tsx';
import { useOverview } from './data.ts';

/** What the caller can decide: requests of others, and challenges that go on only when somebody acts. */
export function WaitingPanel() {
  const approvals = useCall(
    'listApprovals',
    { query: { waiting_for: 'me', limit: 20 } },
    { isMoving: () => false },
  );
  const challenges = useOverview().data?.challenges?.items ?? [];
  const waiting = challenges
    .map((challenge) => ({ challenge, waits: waitsFor(challenge) }))
    .filter(({ waits }) => waits !== undefined);
  return (
    <Panel title="Waiting for you">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section className="home-box" data-rows="3" tabIndex={0} aria-label="Content of Waiting for you">
        <Loaded query={approvals} skeleton={<Skeleton rows={3} />}>
          {({ items }) =>
            items.length + waiting.length === 0 ? (
              <Empty title="Nothing waits for you">
                Requests for approval and challenges that need a decision are listed here.
              </Empty>
            ) : (
              <>
                {items.length > 0 && <ApprovalList items={items} />}
                <ul className="home-rows home-challenges">
                  {waiting.map(({ challenge, waits }) => (
                    <li key={challenge.challenge_id}>
                      <span className="home-name">
                        <Link to="/challenges/$id" params={{ id: challenge.challenge_id }}>
                          {challenge.model_name} v{challenge.champion_version} against v
                          {challenge.challenger_version}
                        </Link>
                      </span>
                      <span className="badge" data-tone="warn">
                        <Hourglass aria-hidden="true" /> {waits}
                      </span>
                    </li>
                  ))}
                </ul>
              </>
            )
          }
        </Loaded>
      </section>
    </Panel>
  );
}
