import { PageHead, Panel } from '../../ui/parts.tsx';
import { HealthList } from './health-list.tsx';

/** What runs, what ended, and what waits for somebody. */
export function HomePage() {
  return (
    <>
      <PageHead title="Home" />
      <Panel title="Health">
        <HealthList />
      </Panel>
    </>
  );
}
