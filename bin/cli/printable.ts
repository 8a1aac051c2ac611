/**
 * The text with everything written out that a terminal would act on: names and messages come from files and other
 * people, and none may steer the terminal or pass for a line of ours.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
