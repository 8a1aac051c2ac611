import { type LookupAddress, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** All addresses of a host name. Rejects with an error whose `code` is that of `node:dns`. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Limit of the first question to a server, ms; the second waits longer. */
const QUESTION_MS = 3_000;

/**
 * Resolves names by the name servers, not by `dns.lookup`: that takes one of the process's few threads for as long as a server does not
 * answer, so a few names that hang would make those of all others fail. Only `localhost` is left to it, which no server is asked for.
 *
 * @param servers `address:port`; default those of the machine
 */
export function hostResolver(servers?: readonly string[]): ResolveHost {
  const resolver = new Resolver({ timeout: QUESTION_MS, tries: 2 });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    if (hostname === 'localhost') return lookupAll(hostname);
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [...familyOf(ipv4, 4), ...familyOf(ipv6, 6)];
    if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
    return addresses;
  };
}

const lookupAll = (hostname: string) =>
  new Promise<LookupAddress[]>((resolve, reject) =>
    lookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  );

const familyOf = (answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
