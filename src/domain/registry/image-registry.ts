/** Where container images are kept. Null on one machine: there the current code runs, whatever a version names. */
export interface ImageRegistry {
  /**
   * `sha256:…` of the image that a reference names now; undefined when it names none, null when its registry is one that
   * cannot be asked.
   */
  digestOf(uri: string): Promise<string | null | undefined>;
}
