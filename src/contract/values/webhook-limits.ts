/** Bounds and durations of webhooks. */

export const WEBHOOK_LIMITS = {
  /** Webhooks of one owner. */
  perOwner: 20,
  /** Webhooks of a stage: each event is compared with all of them. */
  total: 200,
  /** Characters of a URL. */
  url: 2_000,
  /** Selectors of event types. */
  types: 32,
  /** Characters of a description. */
  description: 200,
  /** Events of one replay. */
  replay: 500,
  /** Attempts that a delivery lists, the newest ones. */
  attempts: 20,
} as const;

/** Hours for which a delivery is attempted. */
export const DELIVERY_HOURS = 24;
/** Days for which a delivery stays in the log. */
export const DELIVERY_LOG_DAYS = 7;
/** Hours for which the previous secret signs too. */
export const ROTATION_HOURS = 24;
/** Hours of failures without a success after which a webhook is disabled. */
export const DISABLED_AFTER_HOURS = 72;

/** Prefix of secrets, by the Standard Webhooks specification. */
export const SECRET_PREFIX = 'whsec_';
/** Type of the event that tests a webhook. It is in no log and on no bus. */
export const TEST_EVENT_TYPE = 'webhook.test';

export const WEBHOOK_STATUSES = ['active', 'paused', 'disabled'] as const;

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;

/** Start of the IDs of webhooks. */
export const WEBHOOK_ID_PREFIX = 'wh-';
