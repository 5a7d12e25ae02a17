/** What is asked and answered. Alpha, and served only when asked for. */
import { resourcesOnRequest } from '@gyropilot/api'

export const POOL_STATUS_REQUESTS = resourcesOnRequest.resourcepoolstatusrequests
