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
export { modelKindOf } from './model-kind.ts';
export { permutationImportance } from './permutation-importance.ts';
export {
  type ClassifierSettings,
  checkClassifierSettings,
  classifierSettingProblems,
} from './settings.ts';
