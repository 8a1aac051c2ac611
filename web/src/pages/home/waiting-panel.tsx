import { Empty } from '../../ui/states.tsx';
import { ApprovalList } from '../strategies/approval-list.tsx';
import { ChallengeRow, waitsFor } from './challenges-panel.tsx';
import { OverviewPanel, type OverviewProps } from './overview-panel.tsx';

/** What the caller can decide: requests of others, and challenges that go on only when somebody acts. */
export function WaitingPanel({ query }: OverviewProps) {
  return (
    <OverviewPanel query={query} title="Waiting for you" rows={3} parts={['waiting']}>
      {({ waiting }) =>
        !waiting || waiting.count === 0 ? (
          <Empty title="Nothing waits for you">
            Requests for approval and challenges that need a decision are listed here.
          </Empty>
        ) : (
          <>
            {waiting.approvals.length > 0 && <ApprovalList items={waiting.approvals} />}
            <ul className="home-rows home-challenges">
              {waiting.challenges.map((challenge) => (
                <ChallengeRow
                  key={challenge.challenge_id}
                  challenge={challenge}
                  waits={waitsFor(challenge)}
                />
              ))}
              {waiting.more && <li className="faint">There are more.</li>}
            </ul>
          </>
        )
      }
    </OverviewPanel>
  );
}
