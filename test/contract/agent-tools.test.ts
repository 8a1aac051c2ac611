import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { type AgentTool, agentTools } from '#contract/operations/agent-tools.ts';
import { OPERATIONS } from '#contract/operations/operations.ts';
import { changesState, type Operation } from '#contract/values/operation.ts';

const rows: readonly Operation[] = OPERATIONS;
const tools = agentTools(['read', 'run', 'decide']);
const each = tools.map((tool) => [tool.name, tool] as const);

/** Operations that are deliberately no tools, and why. */
const UNMARKED: Readonly<Record<string, readonly string[]>> = {
  'health and documentation, for other programs': [
    'getHealth',
    'getStrategyServiceHealth',
    'getDataHealth',
    'callDataProxy',
    ...['', 'StrategyService', 'Data'].flatMap((of) => [
      `get${of}Docs`,
      `get${of}DocsAsset`,
      `get${of}OpenApi`,
    ]),
  ],
  'a stream: wait_for_job instead': ['watchJobs', 'watchHyperopt'],
  'long series and files, which a model does not read': [
    'getBacktestCurve',
    'getBacktestColumns',
    'listBacktestPositions',
    'getTradePath',
    'exportBacktest',
    'getOhlcv',
    'getCandles',
    'listInstruments',
    'getInstrumentHistory',
    'listChallengeTrades',
    'listChallengeEvaluations',
  ],
  'removes or replaces stored candles, for people': [
    'deleteSeries',
    'renameSeries',
    'copySeries',
    'undoImport',
  ],
  'the same as another tool': [
    'listSymbols',
    'listDataSymbols',
    'getDataFreshness',
    'listChallenges',
    'listModelApprovals',
    'getApproval',
  ],
  'who may see what, how long it is kept, who did what, and what is required: for people': [
    ...['Backtest', 'Model', 'Hyperopt'].flatMap((of) => [`get${of}Sharing`, `share${of}`]),
    'getSignalsSharing',
    'shareSignals',
    'keepBacktest',
    'keepHyperopt',
    'deleteBacktest',
    'listAudit',
    'transferOwnership',
    'getReleaseRules',
  ],
  'files, which a program sends': ['createSignals', 'listSignals', 'getSignals', 'deleteSignals'],
  'files, which a page sends: agents run `touchstone import`': [
    'createImport',
    'listImports',
    'getImport',
    'previewImport',
    'startImport',
    'cancelImport',
  ],
  'for the program that trades': ['routeKey', 'assignKey', 'logTrades'],
  'events sent out of the platform: for people': [
    'createWebhook',
    'listWebhooks',
    'getWebhook',
    'updateWebhook',
    'deleteWebhook',
    'rotateWebhookSecret',
    'testWebhook',
    'listDeliveries',
    'replayDelivery',
    'replayWebhook',
  ],
};

it('each operation is a tool of agents or deliberately not one', () => {
  const unmarked = rows.filter(({ agent, path }) => !agent && !path.startsWith('/api/2.0/'));
  expect(unmarked.map(({ id }) => id).sort()).toEqual(Object.values(UNMARKED).flat().sort());
  expect(rows.filter(({ agent, path }) => agent && path.startsWith('/api/2.0/'))).toEqual([]);
});

it('decide has each operation of approvers, and what leads to Production or to live traffic', () => {
  const deciding = rows.filter(({ agent }) => agent === 'decide').map(({ id }) => id);
  const approvers = rows.filter(({ access }) => access === 'approver').map(({ id }) => id);
  const leading = ['registerStrategy', 'stageVersion', 'labelVersion', 'createChallenge'];
  const approvals = ['requestApproval', 'approveRequest', 'declineRequest', 'withdrawRequest'];
  expect(deciding.sort()).toEqual([...approvers, ...leading, ...approvals].sort());
});

it('read has no operation that changes state, run and decide have only such', () => {
  for (const row of rows.filter(({ agent }) => agent)) {
    expect(changesState(row), row.id).toBe(row.agent !== 'read');
  }
});

it.each(each)('%s has one argument for each name, without those of higher roles', (_, tool) => {
  const { params, query, body, fieldRoles = {} } = tool.operation;
  const shape = (body as { shape?: object } | undefined)?.shape ?? {};
  const names = [params?.shape ?? {}, query?.shape ?? {}, shape].flatMap(Object.keys);
  expect(new Set(names).size).toBe(names.length);
  const offered = names.filter((name) => !(name in fieldRoles));
  expect(Object.keys(tool.inputSchema.properties).sort()).toEqual(offered.sort());
});

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const accepts = ({ inputSchema }: AgentTool, value: unknown) => ajv.validate(inputSchema, value);

it.each(each)('schema of %s is an object without references and unknown arguments', (name, tool) => {
  expect(name).toMatch(/^[a-z][a-z_]{2,40}$/);
  expect(JSON.stringify(tool.inputSchema)).not.toContain('$ref');
  expect(accepts(tool, { no_such_argument: 1 })).toBe(false);
});

it('schemas take what the services take', () => {
  const tool = (name: string) => tools.find((each) => each.name === name)!;
  expect(accepts(tool('submit_backtest'), { config: { strategy: 'a', params: { fast: 10 } } })).toBe(true);
  expect(accepts(tool('submit_backtest'), { config: {} })).toBe(false);
  expect(accepts(tool('get_backtest'), {})).toBe(false);
  expect(accepts(tool('list_backtests'), {})).toBe(true);
  expect(accepts(tool('list_backtests'), { limit: 21 })).toBe(false);
});

it('tools of read and run take less than 64 KB of a context', () => {
  const listed = agentTools(['read', 'run']).map(({ operation: _, ...tool }) => tool);
  expect(JSON.stringify(listed).length).toBeLessThan(64_000);
});

it('a server without the address of a service has no tools of it', () => {
  const services = new Set(agentTools(['read'], ['backend']).map(({ operation }) => operation.service));
  expect([...services]).toEqual(['backend']);
});
