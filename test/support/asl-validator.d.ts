declare module 'asl-validator' {
  /** The package brings no types of its own. */
  export default function aslValidator(
    definition: unknown,
    options?: { readonly checkArn?: boolean; readonly checkPaths?: boolean },
  ): { readonly isValid: boolean; readonly errorsText: (separator?: string) => string };
}
