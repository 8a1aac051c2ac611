import type { StoredWebhook } from '#contract/platform/stored-webhook.ts';
import type { OwnedResource, Ownership, StoredSharing } from './access/access.ts';
import type { ChallengeStore } from './challenges/challenge-store.ts';
import {
  unknownApproval,
  unknownBacktest,
  unknownChallenge,
  unknownHyperopt,
  unknownModel,
  unknownSignals,
  unknownWebhook,
} from './shared/unknown-resources.ts';
import type { SignalsStore } from './signals/signals-ports.ts';
import type { ApprovalStore } from './transitions/approval-store.ts';
import type { RegistryStore } from './transitions/registry-store.ts';
import type { WebhookStore } from './webhooks/webhook-ports.ts';

/** Owner that no user is: only admins may use the resource. */
const ADMINS = '';

/** Sharing of a kind that a service does not have. */
const NONE: StoredSharing = {
  find: async () => undefined,
  share: async () => 'conflict',
  transfer: async () => 'conflict',
};

/** What decides the access to models, their requests and the runs of their versions. */
interface OwnedModels {
  readonly sharing: StoredSharing;
  readonly approvals: Pick<ApprovalStore, 'read'>;
  readonly hasRun: RegistryStore['hasRun'];
}

/** Sharing of each kind of owned resource, and the error of an unknown one. */
export function ownershipOf({
  jobs,
  registry,
  challenges,
  webhooks,
  signals,
}: {
  readonly jobs: { readonly sharing: StoredSharing };
  readonly registry: OwnedModels;
  readonly challenges: Pick<ChallengeStore, 'read'>;
  /** Absent in services without operations on webhooks. */
  readonly webhooks?: Pick<WebhookStore, 'find' | 'change'>;
  /** Absent in services without operations on signals. */
  readonly signals?: Pick<SignalsStore, 'sharing'>;
}): Ownership {
  return {
    backtest: {
      sharing: jobs.sharing,
      unknown: unknownBacktest,
      evidenceOf: (id) => modelOfRun({ jobs, registry }, id),
    },
    hyperopt: { sharing: jobs.sharing, unknown: unknownHyperopt },
    model: { sharing: registry.sharing, unknown: unknownModel },
    challenge: { sharing: sharedAsModels(challenges, registry.sharing), unknown: unknownChallenge },
    approval: { sharing: sharedAsModels(registry.approvals, registry.sharing), unknown: unknownApproval },
    signals: { sharing: signals?.sharing ?? NONE, unknown: unknownSignals },
    // Webhooks belong to one user and cannot be shared.
    webhook: {
      sharing: {
        find: async (id) => ownerOfWebhook(await webhooks?.find(id)),
        share: async () => 'conflict',
        transfer: async (id, _, { owner }) => transferWebhook(webhooks, id, owner),
      },
      unknown: unknownWebhook,
    },
  };
}

/** The model that has a version of the backtest: a model is named as the strategy of its runs. */
async function modelOfRun(
  { jobs, registry }: { readonly jobs: { readonly sharing: StoredSharing }; readonly registry: OwnedModels },
  jobId: string,
): Promise<OwnedResource | undefined> {
  const model = (await jobs.sharing.find(jobId))?.strategy;
  if (model === undefined || !(await registry.hasRun(model, jobId))) return undefined;
  return registry.sharing.find(model);
}

/** One that receives all events is for admins: its owner may no longer be one, and must not direct or replay them then. */
function ownerOfWebhook(webhook: StoredWebhook | undefined): OwnedResource | undefined {
  return webhook && { owner: webhook.all ? ADMINS : webhook.owner };
}

async function transferWebhook(
  webhooks: Pick<WebhookStore, 'find' | 'change'> | undefined,
  id: string,
  owner: string,
): Promise<'done' | 'conflict'> {
  const webhook = await webhooks?.find(id);
  if (!webhook) return 'conflict';
  // The groups of the new owner come with its next request.
  const groups: string[] = [];
  // All events are for admins, which the new owner need not be.
  const changed = { owner, groups, all: false, revision: webhook.revision + 1 };
  return webhooks!.change(id, webhook.revision, changed);
}

/** A challenge, or a request for approval, has the owner and the grants of its model. */
function sharedAsModels(
  store: { read(id: string): Promise<{ readonly model_name: string } | undefined> },
  models: StoredSharing,
): StoredSharing {
  const modelOf = async (id: string) => (await store.read(id))?.model_name;
  return {
    find: async (id) => {
      const model = await modelOf(id);
      return model === undefined ? undefined : models.find(model);
    },
    share: async (id, before, ...more) => {
      const model = await modelOf(id);
      return model === undefined ? 'conflict' : models.share(model, before, ...more);
    },
    // It goes with its model.
    transfer: NONE.transfer,
  };
}
