/** What webhooks and policies decided, under kube-apiserver's names. Contract: docs/behaviour/api-server/requests.md, "Metrics". */
import type { Clock, MetricsRegistry } from '@gyropilot/foundation'
import type { AdmissionRequest } from '../contracts.ts'

const WEBHOOK_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25]
const CONDITION_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25]
const POLICY_BUCKETS = [5e-7, 0.001, 0.01, 0.1, 1]
/** Larger ones are counted as this one. */
const LARGEST_CODE = 600

/** Webhooks that change, those that judge. */
export type WebhookType = 'admit' | 'validating'
/** What went wrong: nothing (the webhook refused), the call, or what came of its answer. */
type WebhookProblem = 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error'

interface WebhookOutcome {
  readonly name: string
  readonly type: WebhookType
  readonly operation: AdmissionRequest['operation']
  readonly startMs: number
  /** That the request is answered with, or that the call ended with; 0: there is none. */
  readonly code: number
  /** Why the request is refused; undefined: it is not. */
  readonly refusedFor?: WebhookProblem
}

interface ConditionOutcome {
  readonly kind: 'policy' | 'webhook'
  readonly name: string
  readonly type: WebhookType | 'validate'
  readonly operation: AdmissionRequest['operation']
  readonly startMs: number
  readonly failed: boolean
}

const PREFIX = 'apiserver_admission'
const WEBHOOK = ['name', 'type', 'operation']
const CONDITION = ['kind', 'name', 'type', 'operation']
const POLICY = ['policy', 'policy_binding', 'error_type']

const webhookFamilies = (registry: MetricsRegistry) => ({
  durations: registry.histogram({
    name: `${PREFIX}_webhook_admission_duration_seconds`,
    help: 'Time that a webhook took for one request.',
    labels: [...WEBHOOK, 'rejected'],
    buckets: WEBHOOK_BUCKETS,
    stability: 'STABLE',
  }),
  requests: registry.counter({
    name: `${PREFIX}_webhook_request_total`,
    help: 'Requests that a webhook was asked about, by whether they were refused and by status code.',
    labels: [...WEBHOOK, 'rejected', 'code'],
  }),
  rejections: registry.counter({
    name: `${PREFIX}_webhook_rejection_count`,
    help: 'Requests that were refused because of a webhook, by what went wrong and by status code.',
    labels: [...WEBHOOK, 'error_type', 'rejection_code'],
  }),
  failOpen: registry.counter({
    name: `${PREFIX}_webhook_fail_open_count`,
    help: 'Requests that went on though a webhook could not be asked.',
    labels: ['name', 'type'],
  }),
})

const conditionFamilies = (registry: MetricsRegistry) => ({
  durations: registry.histogram({
    name: `${PREFIX}_match_condition_evaluation_seconds`,
    help: 'Time that match conditions took which did not hold.',
    labels: CONDITION,
    buckets: CONDITION_BUCKETS,
  }),
  errors: registry.counter({
    name: `${PREFIX}_match_condition_evaluation_errors_total`,
    help: 'Match conditions that could not be evaluated.',
    labels: CONDITION,
  }),
  exclusions: registry.counter({
    name: `${PREFIX}_match_condition_exclusions_total`,
    help: 'Requests that a webhook was not asked about because of its match conditions.',
    labels: CONDITION,
  }),
})

const policyFamilies = (registry: MetricsRegistry) => ({
  validations: registry.counter({
    name: 'apiserver_validating_admission_policy_check_total',
    help: 'Expressions of validating policies that did not hold, by what was done about it.',
    labels: [...POLICY, 'enforcement_action'],
    stability: 'BETA',
  }),
  validationDurations: registry.histogram({
    name: 'apiserver_validating_admission_policy_check_duration_seconds',
    help: 'Time that expressions of validating policies took which did not hold.',
    labels: [...POLICY, 'enforcement_action'],
    buckets: POLICY_BUCKETS,
    stability: 'BETA',
  }),
  mutations: registry.counter({
    name: 'apiserver_mutating_admission_policy_check_total',
    help: 'Mutations of mutating policies, by whether they could be applied.',
    labels: POLICY,
  }),
  mutationDurations: registry.histogram({
    name: 'apiserver_mutating_admission_policy_check_duration_seconds',
    help: 'Time that one mutation of a mutating policy took.',
    labels: POLICY,
    buckets: POLICY_BUCKETS,
  }),
})

export class DecisionMetrics {
  readonly #clock: Clock
  readonly #webhooks: ReturnType<typeof webhookFamilies>
  readonly #conditions: ReturnType<typeof conditionFamilies>
  readonly #policies: ReturnType<typeof policyFamilies>

  constructor(registry: MetricsRegistry, clock: Clock) {
    this.#clock = clock
    this.#webhooks = webhookFamilies(registry)
    this.#conditions = conditionFamilies(registry)
    this.#policies = policyFamilies(registry)
  }

  webhook({ startMs, code, refusedFor, ...webhook }: WebhookOutcome): void {
    const rejected = String(refusedFor !== undefined)
    const shown = String(Math.min(code, LARGEST_CODE))
    this.#webhooks.durations.observe(this.#since(startMs), { ...webhook, rejected })
    this.#webhooks.requests.increment({ ...webhook, rejected, code: shown })
    if (refusedFor !== undefined)
      this.#webhooks.rejections.increment({
        ...webhook,
        error_type: refusedFor,
        rejection_code: shown,
      })
  }

  failedOpen(name: string, type: WebhookType): void {
    this.#webhooks.failOpen.increment({ name, type })
  }

  /** Of conditions that did not all hold. */
  conditions({ startMs, failed, ...condition }: ConditionOutcome): void {
    this.#conditions.durations.observe(this.#since(startMs), condition)
    if (failed) this.#conditions.errors.increment(condition)
  }

  excluded(name: string, type: WebhookType, operation: AdmissionRequest['operation']): void {
    const shown = type === 'validating' ? 'validate' : type
    this.#conditions.exclusions.increment({ kind: 'webhook', name, type: shown, operation })
  }

  validation(policy: string, binding: string, action: string, startMs: number): void {
    const labels = {
      policy,
      policy_binding: binding,
      error_type: 'invalid_error',
      enforcement_action: action,
    }
    this.#policies.validations.increment(labels)
    this.#policies.validationDurations.observe(this.#since(startMs), labels)
  }

  mutation(policy: string, binding: string, failed: boolean, startMs: number): void {
    const error_type = failed ? 'invalid_error' : 'no_error'
    const labels = { policy, policy_binding: binding, error_type }
    this.#policies.mutations.increment(labels)
    this.#policies.mutationDurations.observe(this.#since(startMs), labels)
  }

  #since(startMs: number): number {
    return (this.#clock.monotonicMs() - startMs) / 1000
  }
}
