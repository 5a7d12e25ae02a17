import type { LeaderElector } from './leader-elector.ts'

/**
 * A health check that fails for a holder that has not renewed for long: it is stuck and must be restarted. A standby passes.
 * Contract: docs/behaviour/runtime/leader-election.md.
 */
export class LeaderElectionHealthCheck {
  readonly name = 'leaderElection'
  readonly #toleranceMs: number
  #elector: LeaderElector | undefined

  /** Tolerance on top of the lease duration; kube-controller-manager's is 20 s. */
  constructor(toleranceMs: number) {
    this.#toleranceMs = toleranceMs
  }

  /** Until then the check passes. */
  bind(elector: LeaderElector): void {
    this.#elector = elector
  }

  /** `failed election to renew leadership on lease <name>`, or undefined when well. */
  check(): Error | undefined {
    return this.#elector?.check(this.#toleranceMs)
  }
}
