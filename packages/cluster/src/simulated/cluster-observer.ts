import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import type { StoreEvent } from '@gyropilot/api-server'
import type { Incarnation } from './process.ts'
import type { RequestFacts } from './request-facts.ts'

/** What happens in a cluster, for checkers. Everything is optional and called in the turn in which it happens. */
export interface ClusterObserver {
  sent?(facts: RequestFacts, life: Incarnation): void
  /** A read was answered from an older state. */
  answeredStale?(facts: RequestFacts): void
  answered?(facts: RequestFacts, status: number): void
  /** Done by the server, and its sender does not know. `body` is what was sent. */
  answerLost?(facts: RequestFacts, body: KubernetesObject | undefined): void
  delivered?(facts: RequestFacts, event: WatchEvent<KubernetesObject>): void
  committed?(event: StoreEvent): void
  reconciled?(controller: string, key: string, verdict: unknown): void
  fault?(text: string): void
  processEnded?(life: Incarnation, error: unknown): void
}
