export { type BinnedMatrix, binFeatures } from './bins.ts';
export {
  type Classifier,
  deserialise,
  type SerialisedClassifier,
  type TrainingData,
  type TrainingOptions,
  trainClassifier,
} from './classifier.ts';
export type { FeatureMatrix } from './features.ts';
export { logLoss } from './loss.ts';
export { MODEL_ALIASES, MODEL_KINDS, type ModelKind, modelKindOf } from './model-kind.ts';
export { permutationImportance } from './permutation-importance.ts';
export {
  CLASSIFIER_SETTING_RANGES,
  type ClassifierSettings,
  checkClassifierSettings,
  classifierSettingProblems,
  DEFAULT_CLASSIFIER_SETTINGS,
} from './settings.ts';
