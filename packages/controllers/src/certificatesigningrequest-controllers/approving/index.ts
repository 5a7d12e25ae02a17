/**
 * certificatesigningrequest-approving-controller: approves what kubelets ask for to speak to the API server.
 * Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md.
 */
import { resources } from '@gyropilot/api'
import type { CertificateSigningRequest } from '@gyropilot/api'
import { exponentialAndBucket, runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { CLIENT_IDENTITY, QUEUE_NAME, RETRY_BASE_MS, RETRY_MAX_MS, WORKERS } from '../config.ts'
import { requestWatch } from '../watches.ts'
import type { ControllersConfiguration } from '../../configuration.ts'
import { reconcile } from './reconcile.ts'

export const certificateApprovingController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'certificatesigningrequest-approving-controller',
  aliases: ['csrapproving'],
  enabledByDefault: true,
  serviceAccount: CLIENT_IDENTITY,
  build: (context) => runKeyedController(certificateApprovingLogic(context), context),
}

export function certificateApprovingLogic({
  informers,
  clock,
}: Pick<ControllerContext, 'informers' | 'clock'>): KeyedController<CertificateSigningRequest> {
  const { lister } = informers.informer(resources.certificatesigningrequests)
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    rateLimiter: exponentialAndBucket(clock, RETRY_BASE_MS, RETRY_MAX_MS),
    watches: [requestWatch],
    observe: (key) => lister.getByKey(key),
    reconcile,
  }
}
