import type { ServiceName } from '#contract/values/operation.ts';
import { ApiClient } from '../client.ts';
import { type Session, withSession } from '../session.ts';
import type { Caller } from './call.ts';

type Addresses = Readonly<Partial<Record<ServiceName, string>>>;

interface Found {
  readonly addresses: Addresses;
  /** False for a platform that cannot verify tokens and rejects all of them. */
  readonly takesTokens: boolean;
}

/**
 * The platform that tools call. Without addresses it is the one on the data folder: found, or started, at the first call, because
 * clients start a server to list its tools, and again to use it.
 */
export class Target {
  readonly services: readonly ServiceName[];
  readonly #deployed: Found | undefined;
  readonly #closing = Promise.withResolvers<void>();
  #local: Promise<Found> | undefined;
  #stopped: Promise<unknown> = Promise.resolve();

  constructor(url: string | undefined, strategyUrl: string | undefined, dataUrl: string | undefined) {
    const addresses: Addresses = {
      ...(url && { backend: url }),
      ...(strategyUrl && { strategy: strategyUrl }),
      ...(dataUrl && { data_collection: dataUrl }),
    };
    this.#deployed = url ? { addresses, takesTokens: true } : undefined;
    this.services = url
      ? (Object.keys(addresses) as ServiceName[])
      : ['backend', 'strategy', 'data_collection'];
  }

  /** A caller with this token, if there is one. */
  callerOf(token: string | undefined, session: string): Caller {
    return {
      session,
      client: async (service) => {
        const { addresses, takesTokens } = await this.#find();
        const client = new ApiClient(addresses[service]!, takesTokens ? token : undefined);
        client.trialSession = session;
        return client;
      },
      // The platform may have been started again, at other ports.
      forget: () => {
        this.#local = undefined;
      },
    };
  }

  /** Stops the platform if it was started here. */
  async close(): Promise<void> {
    this.#closing.resolve();
    await this.#stopped;
  }

  #find(): Promise<Found> {
    if (this.#deployed) return Promise.resolve(this.#deployed);
    this.#local ??= this.#open().catch((error: unknown) => {
      this.#local = undefined;
      throw error;
    });
    return this.#local;
  }

  #open(): Promise<Found> {
    return new Promise((resolve, reject) => {
      const session = withSession(undefined, async (found) => {
        resolve(foundIn(found));
        if (found.temporary) await this.#closing.promise;
      });
      this.#stopped = Promise.all([this.#stopped, session.catch(reject)]);
    });
  }
}

function foundIn({ platform }: Session): Found {
  const { backend_url, strategy_service_url, data_collection_url, issuer_url } = platform!;
  return {
    addresses: {
      backend: backend_url,
      strategy: strategy_service_url,
      data_collection: data_collection_url,
    },
    takesTokens: issuer_url !== null,
  };
}
