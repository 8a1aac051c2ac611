import './home.css';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { PageHead, Panel } from '../../ui/parts.tsx';
import { ChallengesPanel } from './challenges-panel.tsx';
import { CountsPanel } from './counts-panel.tsx';
import { useOverview } from './data.ts';
import { FreshnessPanel } from './freshness-panel.tsx';
import { HealthList } from './health-list.tsx';
import { EndedPanel, MovingPanel } from './jobs-panels.tsx';
import { ProductionPanel } from './production-panel.tsx';
import { WaitingPanel } from './waiting-panel.tsx';

/** What waits for the caller, what runs, what ended. */
export function HomePage() {
  const query = useOverview();
  return (
    <>
      <PageHead
        title="Home"
        actions={
          <Link to="/backtests/new" className="btn primary">
            <Plus aria-hidden="true" /> New backtest
          </Link>
        }
      />
      <WaitingPanel query={query} />
      <div className="cols-2">
        <MovingPanel query={query} />
        <EndedPanel query={query} />
      </div>
      <div className="cols-2">
        <ChallengesPanel query={query} />
        <ProductionPanel query={query} />
      </div>
      <div className="cols-2">
        <FreshnessPanel query={query} />
        <CountsPanel query={query} />
      </div>
      <Panel title="Health">
        <HealthList />
      </Panel>
    </>
  );
}
