/**
 * Settings of the publisher.
 * Contract: docs/behaviour/controllers/root-ca-certificate-publisher-controller.md, Flags and
 * configuration.
 */
export interface RootCaPublisherConfiguration {
  /**
   * The PEM text to publish, byte for byte: what --root-ca-file holds, else the CA data of the
   * client configuration. May be empty. Read once, at start.
   */
  readonly caBundle: string
}

export const defaultRootCaPublisherConfiguration: RootCaPublisherConfiguration = { caBundle: '' }

export const WORKERS = 1
export const QUEUE_NAME = 'root_ca_cert_publisher'
export const CLIENT_IDENTITY = 'root-ca-cert-publisher'
