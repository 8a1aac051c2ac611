/** The path by which strategies import labels (docs/writing-strategies.md). */
export { riseLabel } from '../ml/labels.ts';
