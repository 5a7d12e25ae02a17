import { parseTime } from '@gyropilot/api'
import type { CronJob, CronJobStatus, Job, ObjectReference } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { referenceTo } from './job-for.ts'

export function isActiveIn({ status }: CronJob, uid: string | undefined): boolean {
  return isAmong(status?.active ?? [], uid)
}

function isAmong(active: readonly ObjectReference[], uid: string | undefined): boolean {
  return active.some((known) => known.uid === uid)
}

type Change = (status: CronJobStatus) => Partial<CronJobStatus>

/** The status of a CronJob while a sync works on it. */
export class CronJobDraft {
  #cronJob: CronJob
  #status: CronJobStatus
  readonly #changes: Change[] = []

  constructor(cronJob: CronJob) {
    this.#cronJob = cronJob
    this.#status = cronJob.status ?? {}
  }

  get cronJob(): CronJob {
    return this.#cronJob
  }

  get isDirty(): boolean {
    return this.#changes.length > 0
  }

  /** Goes on with a later state of the CronJob, of which all that was changed so far holds, too. */
  renew(cronJob: CronJob): void {
    this.#cronJob = cronJob
    this.#status = cronJob.status ?? {}
    for (const change of this.#changes) this.#apply(change)
  }

  get active(): readonly ObjectReference[] {
    return this.#status.active ?? []
  }

  get lastScheduleMs(): number | undefined {
    return parseTime(this.#status.lastScheduleTime)
  }

  isActive(uid: string | undefined): boolean {
    return isAmong(this.active, uid)
  }

  /** Whether the Job of this name in the CronJob's namespace is active. */
  hasActiveNamed(name: string): boolean {
    const { namespace } = this.cronJob.metadata ?? {}
    return this.active.some((known) => known.name === name && known.namespace === namespace)
  }

  deactivate(uid: string | undefined): void {
    this.#change(({ active = [] }) => ({ active: active.filter((known) => known.uid !== uid) }))
  }

  scheduled(job: Job, scheduledMs: number): void {
    this.#change(({ active = [] }) => ({ active: [...active, referenceTo(job)] }))
    this.timeUsed(scheduledMs)
  }

  /** The Job of this time has been made, and may be over by now. */
  timeUsed(scheduledMs: number): void {
    this.#change(() => ({ lastScheduleTime: formatTime(scheduledMs) }))
  }

  /** The time goes forward only. */
  succeeded({ status }: Job): void {
    const { completionTime } = status ?? {}
    const isLater = ({ lastSuccessfulTime }: CronJobStatus): boolean =>
      (parseTime(completionTime) ?? -Infinity) > (parseTime(lastSuccessfulTime) ?? -Infinity)
    if (!isLater(this.#status)) return
    this.#change((known) => (isLater(known) ? { lastSuccessfulTime: completionTime } : {}))
  }

  /** The CronJob with the status as it is now. */
  result(): CronJob {
    const { active, ...rest } = this.#status
    const status = active === undefined || active.length === 0 ? rest : { ...rest, active }
    return { ...this.#cronJob, status }
  }

  #change(change: Change): void {
    this.#changes.push(change)
    this.#apply(change)
  }

  #apply(change: Change): void {
    this.#status = { ...this.#status, ...change(this.#status) }
  }
}
