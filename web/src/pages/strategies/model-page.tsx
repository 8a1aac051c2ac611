import './strategies.css';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ApiError, call, type ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { Age, PageHead, Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ALL_VERSION_COLUMNS } from '../../ui/version-columns.tsx';
import { ApprovalsPanel } from './approvals-panel.tsx';
import { ComparisonPanel } from './comparison-panel.tsx';
import { HistoryPanel } from './history-panel.tsx';
import { ProductionPanel } from './production-panel.tsx';
import { ProductionTimeline } from './production-timeline.tsx';
import { RegisterVersion } from './register-version.tsx';
import { StageBadge } from './stage-badge.tsx';
import { StageRail } from './stage-rail.tsx';
import { TransitionButtons } from './transitions.tsx';

type Version = ResponseOf<'listVersions'>['versions'][number];

const route = getRouteApi('/strategies/$name');

/** Versions of a strategy by stage, with their transitions, history and comparison. */
export function ModelPage() {
  const { name } = route.useParams();
  const query = useCall(
    'listVersions',
    { params: { model_name: name } },
    {
      // The version in Production may be older than those of the first page.
      read: (signal) => allVersions(name, signal),
      isMoving: ({ versions }) => versions.some(({ validation_status }) => validation_status === 'pending'),
    },
  );
  const configuration = useCall('getStrategy', { params: { name } });
  return (
    <>
      <PageHead title={name} actions={<RegisterVersion name={name} />}>
        <p className="muted one-line">{configuration.data?.description ?? ' '}</p>
      </PageHead>
      {isUnregistered(query.error) && configuration.data ? (
        <NoVersion name={name} />
      ) : (
        <Loaded query={query} skeleton={<Skeleton rows={10} />}>
          {({ versions }) => (
            <>
              <ProductionPanel name={name} versions={versions} />
              <Panel title="Stages">
                <StageRail>
                  {(stage) =>
                    versions
                      .filter((version) => version.stage === stage)
                      .map(({ version }) => (
                        <Link
                          key={version}
                          to="/strategies/$name/versions/$version"
                          params={{ name, version }}
                        >
                          v{version}
                        </Link>
                      ))
                  }
                </StageRail>
              </Panel>
              <VersionsPanel versions={versions} name={name} />
              <ComparisonPanel name={name} versions={versions} />
              <ProductionTimeline name={name} />
              <ApprovalsPanel name={name} />
              <HistoryPanel name={name} />
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

async function allVersions(model_name: string, signal: AbortSignal): Promise<ResponseOf<'listVersions'>> {
  const versions: Version[] = [];
  let cursor: string | null = null;
  do {
    const page: ResponseOf<'listVersions'> = await call(
      'listVersions',
      { params: { model_name }, ...(cursor === null ? {} : { query: { cursor } }) },
      { signal },
    );
    versions.push(...page.versions);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return { model_name, versions, count: versions.length, next_cursor: null };
}

/** A strategy without a version is no fault. */
function isUnregistered(error: Error | null): boolean {
  return error instanceof ApiError && error.code === 'RES002';
}

function NoVersion({ name }: { readonly name: string }) {
  return (
    <Panel title="Versions">
      <Empty title="No version is registered">
        <p>Run a backtest, then register it here or in its report.</p>
        <Link to="/backtests/new" search={{ strategy: name }} className="btn">
          New backtest
        </Link>
      </Empty>
    </Panel>
  );
}

function columnsOf(name: string, production: string | null): readonly Column<Version>[] {
  return [
    {
      key: 'version',
      title: 'Version',
      cell: ({ version }) => (
        <Link to="/strategies/$name/versions/$version" params={{ name, version }}>
          v{version}
        </Link>
      ),
    },
    { key: 'stage', title: 'Stage', cell: ({ stage }) => <StageBadge stage={stage} /> },
    {
      key: 'actions',
      title: 'Next step',
      cell: ({ version, stage }) => (
        <TransitionButtons subject={{ model: name, version, stage, production }} />
      ),
    },
    ...ALL_VERSION_COLUMNS,
    { key: 'validation', title: 'Validation', cell: ({ validation_status }) => validation_status },
    { key: 'created', title: 'Registered', cell: ({ created_at }) => <Age at={created_at} /> },
    { key: 'by', title: 'By', cell: ({ created_by }) => created_by },
  ];
}

function VersionsPanel({ versions, name }: { readonly versions: readonly Version[]; readonly name: string }) {
  const production = versions.find(({ stage }) => stage === 'Production')?.version ?? null;
  return (
    <Panel title="Versions">
      <div className="list">
        <Table
          label="All versions"
          rows={versions}
          columns={columnsOf(name, production)}
          idOf={({ version }) => version}
        />
      </div>
    </Panel>
  );
}
