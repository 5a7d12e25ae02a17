export { SCHEDULER_NAME, Scheduler } from './scheduler.ts'
export type { SchedulerOptions } from './scheduler.ts'
