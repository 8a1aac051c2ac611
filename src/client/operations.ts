// Written by npm run openapi.
import { backend, data_collection, strategy } from './call.ts';
import { file, get, patch, post, postOnce, put, remove, stream } from './call.ts';

/** Health of the service and of what it depends on. */
export const getHealth = /* @__PURE__ */ get<'getHealth'>(backend, '/health');

/** What runs, what ended, and the state of models, challenges and data. */
export const getOverview = /* @__PURE__ */ get<'getOverview'>(backend, '/overview');

/** All strategy configurations. */
export const listStrategies = /* @__PURE__ */ get<'listStrategies'>(backend, '/strategies');

/** A strategy configuration. */
export const getStrategy = /* @__PURE__ */ get<'getStrategy'>(backend, '/strategies/{name}');

/** Symbols with stored candles. */
export const listSymbols = /* @__PURE__ */ get<'listSymbols'>(backend, '/data/symbols');

/** Freshness of the stored candles. */
export const checkFreshness = /* @__PURE__ */ get<'checkFreshness'>(backend, '/data/freshness');

/** Call the data-collection proxy. */
export const callDataProxy = /* @__PURE__ */ postOnce<'callDataProxy'>(backend, '/data-proxy');

/** The caller and what its roles allow. */
export const getMe = /* @__PURE__ */ get<'getMe'>(backend, '/me');

/** Make another user the owner of a resource. */
export const transferOwnership = /* @__PURE__ */ post<'transferOwnership'>(backend, '/ownership');

/** Audit trail: every call that can change state, newest first. */
export const listAudit = /* @__PURE__ */ get<'listAudit'>(backend, '/audit');

/** Follow the jobs of all kinds that the caller may see. */
export const watchJobs = /* @__PURE__ */ stream<'watchJobs'>(backend, '/events');

/** Submit a backtest. */
export const submitBacktest = /* @__PURE__ */ post<'submitBacktest'>(backend, '/backtests');

/** List backtests, newest first. */
export const listBacktests = /* @__PURE__ */ get<'listBacktests'>(backend, '/backtests');

/** A backtest: its status and, when completed, its result. */
export const getBacktest = /* @__PURE__ */ get<'getBacktest'>(backend, '/backtests/{job_id}');

/** Change notes, tags and pin of a backtest. */
export const updateBacktest = /* @__PURE__ */ patch<'updateBacktest'>(backend, '/backtests/{job_id}');

/** Delete a backtest with its results. */
export const deleteBacktest = /* @__PURE__ */ remove<'deleteBacktest'>(backend, '/backtests/{job_id}');

/** Keep a backtest, or let it expire again. */
export const keepBacktest = /* @__PURE__ */ post<'keepBacktest'>(backend, '/backtests/{job_id}/keep');

/** Cancel a pending or running backtest. */
export const cancelBacktest = /* @__PURE__ */ postOnce<'cancelBacktest'>(backend, '/backtests/{job_id}/cancel');

/** Daily equity, drawdown and monthly returns of a completed backtest. */
export const getBacktestEquity = /* @__PURE__ */ get<'getBacktestEquity'>(backend, '/backtests/{job_id}/equity');

/** The full analysis of a completed backtest. */
export const getBacktestReport = /* @__PURE__ */ get<'getBacktestReport'>(backend, '/backtests/{job_id}/report-data');

/** Trades of a completed backtest, filtered and sorted. */
export const listBacktestTrades = /* @__PURE__ */ get<'listBacktestTrades'>(backend, '/backtests/{job_id}/trades');

/** Positions of a completed backtest: trades of a group that overlap in time. */
export const listBacktestPositions = /* @__PURE__ */ get<'listBacktestPositions'>(backend, '/backtests/{job_id}/positions');

/** Equity, drawdown and market of a completed backtest, by day or candle, for charts. */
export const getBacktestCurve = /* @__PURE__ */ get<'getBacktestCurve'>(backend, '/backtests/{job_id}/curve');

/** Candles, indicators and signals of a completed backtest. */
export const getBacktestColumns = /* @__PURE__ */ get<'getBacktestColumns'>(backend, '/backtests/{job_id}/columns');

/** Why a trade of a completed backtest was entered and closed: the rules, with the values that decided. */
export const explainTrade = /* @__PURE__ */ get<'explainTrade'>(backend, '/backtests/{job_id}/trades/{trade_id}/why');

/** Stop, trailing stop, target and liquidation price of a trade in each of its candles. */
export const getTradePath = /* @__PURE__ */ get<'getTradePath'>(backend, '/backtests/{job_id}/trades/{trade_id}/path');

/** A completed backtest as a file. */
export const exportBacktest = /* @__PURE__ */ file<'exportBacktest'>(backend, '/backtests/{job_id}/export');

/** Whose a backtest is, and with whom it is shared. */
export const getBacktestSharing = /* @__PURE__ */ get<'getBacktestSharing'>(backend, '/backtests/{job_id}/sharing');

/** Share a backtest, or stop sharing it. */
export const shareBacktest = /* @__PURE__ */ put<'shareBacktest'>(backend, '/backtests/{job_id}/sharing');

/** Experiments of the caller, the one with the newest job first. */
export const listExperiments = /* @__PURE__ */ get<'listExperiments'>(backend, '/experiments');

/** Stage a version: from None to Staging. */
export const stageVersion = /* @__PURE__ */ post<'stageVersion'>(backend, '/strategies/{name}/stage');

/** Promote a version: from Staging to Production. */
export const promoteVersion = /* @__PURE__ */ post<'promoteVersion'>(backend, '/strategies/{name}/promote');

/** Roll back to a version: from Archived to Production. */
export const rollbackModel = /* @__PURE__ */ post<'rollbackModel'>(backend, '/models/{model_name}/rollback');

/** Stop a model: from Production to Archived, without a successor. */
export const stopModel = /* @__PURE__ */ post<'stopModel'>(backend, '/models/{model_name}/stop');

/** Versions of a model, newest number first. */
export const listVersions = /* @__PURE__ */ get<'listVersions'>(backend, '/models/{model_name}/versions');

/** A version with its configuration and validation. */
export const getVersion = /* @__PURE__ */ get<'getVersion'>(backend, '/models/{model_name}/versions/{version}');

/** Set the aliases and tags of a version. */
export const labelVersion = /* @__PURE__ */ patch<'labelVersion'>(backend, '/models/{model_name}/versions/{version}');

/** Every change of a model, newest first: who, when, what and why. */
export const getHistory = /* @__PURE__ */ get<'getHistory'>(backend, '/models/{model_name}/history');

/** Which version was in Production at a time, or over a range. */
export const getProduction = /* @__PURE__ */ get<'getProduction'>(backend, '/models/{model_name}/production');

/** What this platform requires of every release, and its release policy. */
export const getReleaseRules = /* @__PURE__ */ get<'getReleaseRules'>(backend, '/release-rules');

/** Whose a model is, and with whom it is shared. */
export const getModelSharing = /* @__PURE__ */ get<'getModelSharing'>(backend, '/models/{model_name}/sharing');

/** Share a model, or stop sharing it. */
export const shareModel = /* @__PURE__ */ put<'shareModel'>(backend, '/models/{model_name}/sharing');

/** Versions in Production and Staging. */
export const listCatalog = /* @__PURE__ */ get<'listCatalog'>(backend, '/catalog/strategies');

/** Compare a challenger with a champion on their registered backtests. */
export const compareVersions = /* @__PURE__ */ get<'compareVersions'>(backend, '/catalog/strategies/{name}/compare');

/** Request a transition that another user approves. */
export const requestApproval = /* @__PURE__ */ post<'requestApproval'>(backend, '/models/{model_name}/approvals');

/** Requests for approval of a model, newest first. */
export const listModelApprovals = /* @__PURE__ */ get<'listModelApprovals'>(backend, '/models/{model_name}/approvals');

/** Requests for approval of all models that the caller may read, newest first. */
export const listApprovals = /* @__PURE__ */ get<'listApprovals'>(backend, '/approvals');

/** A request for approval. */
export const getApproval = /* @__PURE__ */ get<'getApproval'>(backend, '/approvals/{approval_id}');

/** Approve a request: make its transition. */
export const approveRequest = /* @__PURE__ */ post<'approveRequest'>(backend, '/approvals/{approval_id}/approve');

/** Decline a request, with a reason. */
export const declineRequest = /* @__PURE__ */ post<'declineRequest'>(backend, '/approvals/{approval_id}/decline');

/** Withdraw a request. */
export const withdrawRequest = /* @__PURE__ */ post<'withdrawRequest'>(backend, '/approvals/{approval_id}/withdraw');

/** Deliver events to a URL. */
export const createWebhook = /* @__PURE__ */ postOnce<'createWebhook'>(backend, '/webhooks');

/** Webhooks of the caller; of all users for admins. */
export const listWebhooks = /* @__PURE__ */ get<'listWebhooks'>(backend, '/webhooks');

/** A webhook, without its secret. */
export const getWebhook = /* @__PURE__ */ get<'getWebhook'>(backend, '/webhooks/{webhook_id}');

/** Change, pause or resume a webhook. */
export const updateWebhook = /* @__PURE__ */ patch<'updateWebhook'>(backend, '/webhooks/{webhook_id}');

/** Delete a webhook; its pending deliveries end. */
export const deleteWebhook = /* @__PURE__ */ remove<'deleteWebhook'>(backend, '/webhooks/{webhook_id}');

/** Replace the secret. */
export const rotateWebhookSecret = /* @__PURE__ */ postOnce<'rotateWebhookSecret'>(backend, '/webhooks/{webhook_id}/rotate-secret');

/** Send a test event. */
export const testWebhook = /* @__PURE__ */ postOnce<'testWebhook'>(backend, '/webhooks/{webhook_id}/test');

/** Deliveries of a webhook, newest events first. */
export const listDeliveries = /* @__PURE__ */ get<'listDeliveries'>(backend, '/webhooks/{webhook_id}/deliveries');

/** Deliver an event again. */
export const replayDelivery = /* @__PURE__ */ postOnce<'replayDelivery'>(backend, '/webhooks/{webhook_id}/deliveries/{delivery_id}/replay');

/** Deliver the events of a time range again. */
export const replayWebhook = /* @__PURE__ */ post<'replayWebhook'>(backend, '/webhooks/{webhook_id}/replay');

/** Upload a file of signals. */
export const createSignals = /* @__PURE__ */ post<'createSignals'>(backend, '/signals');

/** Files of signals of the caller, newest first. */
export const listSignals = /* @__PURE__ */ get<'listSignals'>(backend, '/signals');

/** A file of signals, without its content. */
export const getSignals = /* @__PURE__ */ get<'getSignals'>(backend, '/signals/{signals_id}');

/** Delete a file of signals. */
export const deleteSignals = /* @__PURE__ */ remove<'deleteSignals'>(backend, '/signals/{signals_id}');

/** Whose a file of signals is, and with whom it is shared. */
export const getSignalsSharing = /* @__PURE__ */ get<'getSignalsSharing'>(backend, '/signals/{signals_id}/sharing');

/** Share a file of signals, or stop sharing it. */
export const shareSignals = /* @__PURE__ */ put<'shareSignals'>(backend, '/signals/{signals_id}/sharing');

/** Health of the service and of what it depends on. */
export const getStrategyServiceHealth = /* @__PURE__ */ get<'getStrategyServiceHealth'>(strategy, '/health');

/** Register a completed backtest as the next version of a strategy. */
export const registerStrategy = /* @__PURE__ */ post<'registerStrategy'>(strategy, '/strategies/{name}/register');

/** Search the parameters of a strategy and of its model. */
export const startHyperopt = /* @__PURE__ */ post<'startHyperopt'>(strategy, '/hyperopt');

/** Hyperopt jobs, newest first. */
export const listHyperopts = /* @__PURE__ */ get<'listHyperopts'>(strategy, '/hyperopt');

/** Status and progress of a hyperopt job. */
export const getHyperopt = /* @__PURE__ */ get<'getHyperopt'>(strategy, '/hyperopt/{job_id}');

/** The best parameters of a completed hyperopt job. */
export const getHyperoptResult = /* @__PURE__ */ get<'getHyperoptResult'>(strategy, '/hyperopt/{job_id}/result');

/** Trials of a hyperopt job, by number. */
export const listHyperoptTrials = /* @__PURE__ */ get<'listHyperoptTrials'>(strategy, '/hyperopt/{job_id}/trials');

/** Follow a hyperopt job: its trials as they end. */
export const watchHyperopt = /* @__PURE__ */ stream<'watchHyperopt'>(strategy, '/hyperopt/{job_id}/events');

/** Keep a hyperopt job, or let it expire again. */
export const keepHyperopt = /* @__PURE__ */ post<'keepHyperopt'>(strategy, '/hyperopt/{job_id}/keep');

/** Cancel a pending or running hyperopt job. */
export const cancelHyperopt = /* @__PURE__ */ postOnce<'cancelHyperopt'>(strategy, '/hyperopt/{job_id}/cancel');

/** Resume a cancelled or failed hyperopt job as a new job. */
export const resumeHyperopt = /* @__PURE__ */ post<'resumeHyperopt'>(strategy, '/hyperopt/{job_id}/resume');

/** Whose a hyperopt job is, and with whom it is shared. */
export const getHyperoptSharing = /* @__PURE__ */ get<'getHyperoptSharing'>(strategy, '/hyperopt/{job_id}/sharing');

/** Share a hyperopt job, or stop sharing it. */
export const shareHyperopt = /* @__PURE__ */ put<'shareHyperopt'>(strategy, '/hyperopt/{job_id}/sharing');

/** Test a version against the champion with part of the traffic. */
export const createChallenge = /* @__PURE__ */ post<'createChallenge'>(strategy, '/models/{model_name}/challenges');

/** Challenges of a model, newest first. */
export const listChallenges = /* @__PURE__ */ get<'listChallenges'>(strategy, '/models/{model_name}/challenges');

/** Challenges of all models, newest first. */
export const listAllChallenges = /* @__PURE__ */ get<'listAllChallenges'>(strategy, '/challenges');

/** Version that decides for a key: the challenge assignment, else Production. */
export const routeKey = /* @__PURE__ */ get<'routeKey'>(strategy, '/models/{model_name}/route');

/** A challenge. */
export const getChallenge = /* @__PURE__ */ get<'getChallenge'>(strategy, '/challenges/{challenge_id}');

/** Assign a key to a version and count the assignment. */
export const assignKey = /* @__PURE__ */ post<'assignKey'>(strategy, '/challenges/{challenge_id}/assignments');

/** Add a trade result, or up to 100. */
export const logTrades = /* @__PURE__ */ post<'logTrades'>(strategy, '/challenges/{challenge_id}/trades');

/** Trades of a challenge, last logged first. */
export const listChallengeTrades = /* @__PURE__ */ get<'listChallengeTrades'>(strategy, '/challenges/{challenge_id}/trades');

/** Comparison of the variants, with a recommendation. */
export const evaluateChallenge = /* @__PURE__ */ get<'evaluateChallenge'>(strategy, '/challenges/{challenge_id}/evaluate');

/** How the comparison of the variants developed, oldest first. */
export const listChallengeEvaluations = /* @__PURE__ */ get<'listChallengeEvaluations'>(strategy, '/challenges/{challenge_id}/evaluations');

/** Events of a challenge, newest first. */
export const listChallengeEvents = /* @__PURE__ */ get<'listChallengeEvents'>(strategy, '/challenges/{challenge_id}/events');

/** Move the challenger to the next canary stage. */
export const advanceChallenge = /* @__PURE__ */ post<'advanceChallenge'>(strategy, '/challenges/{challenge_id}/advance');

/** Keep the traffic share of the challenger unchanged. */
export const holdChallenge = /* @__PURE__ */ post<'holdChallenge'>(strategy, '/challenges/{challenge_id}/hold');

/** End a hold. */
export const resumeChallenge = /* @__PURE__ */ post<'resumeChallenge'>(strategy, '/challenges/{challenge_id}/resume');

/** Promote the challenger that won. */
export const promoteChallenge = /* @__PURE__ */ post<'promoteChallenge'>(strategy, '/challenges/{challenge_id}/promote');

/** End a challenge: the champion stays. */
export const rollBackChallenge = /* @__PURE__ */ post<'rollBackChallenge'>(strategy, '/challenges/{challenge_id}/rollback');

/** Health of the service and of what it depends on. */
export const getDataHealth = /* @__PURE__ */ get<'getDataHealth'>(data_collection, '/health');

/** Stored candles of a symbol. */
export const getOhlcv = /* @__PURE__ */ get<'getOhlcv'>(data_collection, '/ohlcv');

/** Stored candles of a symbol as columns, for charts. */
export const getCandles = /* @__PURE__ */ get<'getCandles'>(data_collection, '/candles');

/** Symbols with stored candles. */
export const listDataSymbols = /* @__PURE__ */ get<'listDataSymbols'>(data_collection, '/symbols');

/** Amount steps, price ticks and order limits of the symbols. */
export const listInstruments = /* @__PURE__ */ get<'listInstruments'>(data_collection, '/instruments');

/** Rules of a symbol as of their dates. */
export const getInstrumentHistory = /* @__PURE__ */ get<'getInstrumentHistory'>(data_collection, '/instruments/history');

/** Range, count and gaps of every stored series. */
export const getDataStatus = /* @__PURE__ */ get<'getDataStatus'>(data_collection, '/status');

/** Stored, expected and corrupt candles of each series by month. */
export const getCoverage = /* @__PURE__ */ get<'getCoverage'>(data_collection, '/coverage');

/** Freshness of the stored candles. */
export const getDataFreshness = /* @__PURE__ */ get<'getDataFreshness'>(data_collection, '/freshness');

/** Stored series of all exchanges. */
export const listSeries = /* @__PURE__ */ get<'listSeries'>(data_collection, '/series');

/** A stored series, what uses it, and the import that can be undone. */
export const getSeries = /* @__PURE__ */ get<'getSeries'>(data_collection, '/series/details');

/** Condition of a stored series by day. */
export const getSeriesCondition = /* @__PURE__ */ get<'getSeriesCondition'>(data_collection, '/series/condition');

/** Delete stored series. */
export const deleteSeries = /* @__PURE__ */ postOnce<'deleteSeries'>(data_collection, '/series/delete');

/** Rename stored series. */
export const renameSeries = /* @__PURE__ */ postOnce<'renameSeries'>(data_collection, '/series/rename');

/** Copy stored series to another exchange or symbol. */
export const copySeries = /* @__PURE__ */ postOnce<'copySeries'>(data_collection, '/series/copy');

/** Take the last import of a symbol back. */
export const undoImport = /* @__PURE__ */ postOnce<'undoImport'>(data_collection, '/series/undo');

/** Collect candles. */
export const startCollection = /* @__PURE__ */ post<'startCollection'>(data_collection, '/collections');

/** Collections, newest first. */
export const listCollections = /* @__PURE__ */ get<'listCollections'>(data_collection, '/collections');

/** Status and progress of a collection. */
export const getCollection = /* @__PURE__ */ get<'getCollection'>(data_collection, '/collections/{collection_id}');

/** Cancel a pending or running collection. */
export const cancelCollection = /* @__PURE__ */ postOnce<'cancelCollection'>(data_collection, '/collections/{collection_id}/cancel');

/** Begin an import of files. */
export const createImport = /* @__PURE__ */ postOnce<'createImport'>(data_collection, '/imports');

/** Imports of files, newest first. */
export const listImports = /* @__PURE__ */ get<'listImports'>(data_collection, '/imports');

/** An import of files with its preview or result. */
export const getImport = /* @__PURE__ */ get<'getImport'>(data_collection, '/imports/{import_id}');

/** Read the files of an import and say what would be stored. */
export const previewImport = /* @__PURE__ */ postOnce<'previewImport'>(data_collection, '/imports/{import_id}/preview');

/** Import the files. */
export const startImport = /* @__PURE__ */ postOnce<'startImport'>(data_collection, '/imports/{import_id}/start');

/** End an import and remove its files. */
export const cancelImport = /* @__PURE__ */ postOnce<'cancelImport'>(data_collection, '/imports/{import_id}/cancel');
