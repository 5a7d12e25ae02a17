/** Names. Contract: docs/behaviour/controllers/selinux-warning-controller.md. */

export const CONTROLLER_NAME = 'selinux-warning-controller'
export const SERVICE_ACCOUNT = 'selinux-warning-controller'
export const EVENT_COMPONENT = 'selinux_warning'
export const QUEUE_NAME = 'selinux_warning'
export const WORKERS = 1
