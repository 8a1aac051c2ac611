/** Gradient boosting by how its trees grow, and the linear baseline. */
export const MODEL_KINDS = [
  'depthwise_gbdt',
  'leafwise_gbdt',
  'symmetric_gbdt',
  'logistic_regression',
] as const;

export type ModelKind = (typeof MODEL_KINDS)[number];

/** Names people bring, in lower case. Ours is in the style of theirs: the growth policy is the same, the code is not. */
const ALIASES: Readonly<Record<string, ModelKind>> = {
  xgboost: 'depthwise_gbdt',
  xgboostclassifier: 'depthwise_gbdt',
  lightgbm: 'leafwise_gbdt',
  lightgbmclassifier: 'leafwise_gbdt',
  catboost: 'symmetric_gbdt',
  catboostclassifier: 'symmetric_gbdt',
};

/** The model kind of a canonical name or of an alias, whatever its case; undefined when the name is unknown. */
export function modelKindOf(name: string): ModelKind | undefined {
  const lower = name.toLowerCase();
  return (
    MODEL_KINDS.find((kind) => kind === lower) ?? (Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : undefined)
  );
}

/** What `modelKindOf` takes beside {@link MODEL_KINDS}, as people write it: for messages that list the choices. */
export const MODEL_ALIASES = [
  'xgboost',
  'XGBoostClassifier',
  'lightgbm',
  'LightGBMClassifier',
  'catboost',
  'CatboostClassifier',
] as const;
