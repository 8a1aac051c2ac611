/** One argument of a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A command that sends the same request. It takes the token from `TOUCHSTONE_TOKEN`: a token never stands on the page. */
export function curlOf(request: {
  readonly method: string;
  readonly url: string;
  readonly body: object;
  readonly needsToken: boolean;
}): string {
  return [
    `curl -X ${request.method} ${quoted(request.url)}`,
    ...(request.needsToken ? [`-H "Authorization: Bearer $TOUCHSTONE_TOKEN"`] : []),
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(JSON.stringify(request.body))}`,
  ].join(' \\\n  ');
}
