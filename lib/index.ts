/** Deploys Touchstone with the strategies of a folder: `touchstone/cdk`. */
export { type StageConfig, type StageName, stageConfig } from './settings/config.ts';
export { Touchstone, type TouchstoneProps } from './touchstone.ts';
