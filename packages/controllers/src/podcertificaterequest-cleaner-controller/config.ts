/** Fixed values of the cleaner. Contract: docs/behaviour/controllers/podcertificaterequest-cleaner-controller.md. */
import { resourcesOnRequest } from '@gyropilot/api'

export const { podcertificaterequests: podCertificateRequests } = resourcesOnRequest

export const FEATURE_GATE = 'PodCertificateRequest'
export const CLIENT_IDENTITY = 'podcertificaterequestcleaner'
/** From the end of one scan to the beginning of the next. */
export const SCAN_PERIOD_MS = 5 * 60_000
/** By then the kubelet has read its answer, or never will. */
export const LIFETIME_MS = 15 * 60_000
