import { parseTime } from '@gyropilot/api'
import type { CronJob, CronJobStatus, Job, ObjectReference } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { referenceTo } from './job-for.ts'

/** The status of a CronJob while a sync works on it. */
export class CronJobDraft {
  readonly cronJob: CronJob
  #status: CronJobStatus
  #isDirty = false

  constructor(cronJob: CronJob) {
    this.cronJob = cronJob
    this.#status = cronJob.status ?? {}
  }

  get isDirty(): boolean {
    return this.#isDirty
  }

  get active(): readonly ObjectReference[] {
    return this.#status.active ?? []
  }

  get lastScheduleMs(): number | undefined {
    return parseTime(this.#status.lastScheduleTime)
  }

  isActive(uid: string | undefined): boolean {
    return this.active.some((reference) => reference.uid === uid)
  }

  /** Whether the Job of this name in the CronJob's namespace is active. */
  hasActiveNamed(name: string): boolean {
    const { namespace } = this.cronJob.metadata ?? {}
    return this.active.some((known) => known.name === name && known.namespace === namespace)
  }

  deactivate(uid: string | undefined): void {
    this.#change({ active: this.active.filter((reference) => reference.uid !== uid) })
  }

  scheduled(job: Job, scheduledMs: number): void {
    this.#change({ active: [...this.active, referenceTo(job)] })
    this.timeUsed(scheduledMs)
  }

  /** The Job of this time has been made, and may be over by now. */
  timeUsed(scheduledMs: number): void {
    this.#change({ lastScheduleTime: formatTime(scheduledMs) })
  }

  /** The time goes forward only. */
  succeeded({ status }: Job): void {
    const completedMs = parseTime(status?.completionTime)
    if (completedMs === undefined) return
    if (completedMs <= (parseTime(this.#status.lastSuccessfulTime) ?? -Infinity)) return
    this.#change({ lastSuccessfulTime: status?.completionTime })
  }

  /** The CronJob with the status as it is now. */
  result(): CronJob {
    const { active, ...rest } = this.#status
    const status = active === undefined || active.length === 0 ? rest : { ...rest, active }
    return { ...this.cronJob, status }
  }

  #change(status: Partial<CronJobStatus>): void {
    this.#status = { ...this.#status, ...status }
    this.#isDirty = true
  }
}
