/** The option `--expect`, a version or `none`, as the body of a move has it. */
export function expectedProduction(expect: string | undefined): { expected_production?: string | null } {
  if (expect === undefined) return {};
  return { expected_production: expect === 'none' ? null : expect };
}
