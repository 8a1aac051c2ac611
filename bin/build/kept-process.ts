/** Evaluated before all other modules of a bundle, whose `process` it becomes. */
const { process: kept } = globalThis;
export { kept as process };
