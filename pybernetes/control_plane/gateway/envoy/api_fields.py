"""The part of Envoy's API (v3) that is used here: messages with the numbers, names and types of fields, and enumerations.

The package that has all of it brings old copies of other projects' modules along, which then replace the real ones. A field
that is not here cannot be set: add its line. ``*`` is a list, ``map:`` a map from strings.
"""

from __future__ import annotations

MESSAGES = """
envoy.config.cluster.v3.Cluster
    1 name string
    2 type envoy.config.cluster.v3.Cluster.DiscoveryType
    3 eds_cluster_config envoy.config.cluster.v3.Cluster.EdsClusterConfig
    4 connect_timeout google.protobuf.Duration
    5 per_connection_buffer_limit_bytes google.protobuf.UInt32Value
    6 lb_policy envoy.config.cluster.v3.Cluster.LbPolicy
    24 transport_socket envoy.config.core.v3.TransportSocket
    28 alt_stat_name string
    36 typed_extension_protocol_options map:google.protobuf.Any
envoy.config.cluster.v3.Cluster.EdsClusterConfig
    1 eds_config envoy.config.core.v3.ConfigSource
    2 service_name string
envoy.config.core.v3.Address
    1 socket_address envoy.config.core.v3.SocketAddress
envoy.config.core.v3.AggregatedConfigSource
envoy.config.core.v3.ConfigSource
    3 ads envoy.config.core.v3.AggregatedConfigSource
    4 initial_fetch_timeout google.protobuf.Duration
    6 resource_api_version envoy.config.core.v3.ApiVersion
envoy.config.core.v3.DataSource
    2 inline_bytes bytes
envoy.config.core.v3.HeaderValue
    1 key string
    2 value string
envoy.config.core.v3.HeaderValueOption
    1 header envoy.config.core.v3.HeaderValue
    3 append_action envoy.config.core.v3.HeaderValueOption.HeaderAppendAction
envoy.config.core.v3.Http2ProtocolOptions
    2 max_concurrent_streams google.protobuf.UInt32Value
    3 initial_stream_window_size google.protobuf.UInt32Value
    4 initial_connection_window_size google.protobuf.UInt32Value
envoy.config.core.v3.HttpProtocolOptions
    1 idle_timeout google.protobuf.Duration
    5 headers_with_underscores_action envoy.config.core.v3.HttpProtocolOptions.HeadersWithUnderscoresAction
envoy.config.core.v3.RuntimeFractionalPercent
    1 default_value envoy.type.v3.FractionalPercent
envoy.config.core.v3.SocketAddress
    2 address string
    3 port_value uint32
    6 ipv4_compat bool
envoy.config.core.v3.TransportSocket
    1 name string
    3 typed_config google.protobuf.Any
envoy.config.endpoint.v3.ClusterLoadAssignment
    1 cluster_name string
    2 endpoints *envoy.config.endpoint.v3.LocalityLbEndpoints
envoy.config.endpoint.v3.Endpoint
    1 address envoy.config.core.v3.Address
    3 hostname string
envoy.config.endpoint.v3.LbEndpoint
    1 endpoint envoy.config.endpoint.v3.Endpoint
envoy.config.endpoint.v3.LocalityLbEndpoints
    2 lb_endpoints *envoy.config.endpoint.v3.LbEndpoint
envoy.config.listener.v3.Filter
    1 name string
    4 typed_config google.protobuf.Any
envoy.config.listener.v3.FilterChain
    1 filter_chain_match envoy.config.listener.v3.FilterChainMatch
    3 filters *envoy.config.listener.v3.Filter
    6 transport_socket envoy.config.core.v3.TransportSocket
    7 name string
envoy.config.listener.v3.FilterChainMatch
    9 transport_protocol string
    11 server_names *string
envoy.config.listener.v3.Listener
    1 name string
    2 address envoy.config.core.v3.Address
    3 filter_chains *envoy.config.listener.v3.FilterChain
    5 per_connection_buffer_limit_bytes google.protobuf.UInt32Value
    9 listener_filters *envoy.config.listener.v3.ListenerFilter
    15 listener_filters_timeout google.protobuf.Duration
envoy.config.listener.v3.ListenerFilter
    1 name string
    3 typed_config google.protobuf.Any
envoy.config.route.v3.DirectResponseAction
    1 status uint32
envoy.config.route.v3.HeaderMatcher
    1 name string
    13 string_match envoy.type.matcher.v3.StringMatcher
envoy.config.route.v3.QueryParameterMatcher
    1 name string
    5 string_match envoy.type.matcher.v3.StringMatcher
envoy.config.route.v3.RedirectAction
    1 host_redirect string
    2 path_redirect string
    3 response_code envoy.config.route.v3.RedirectAction.RedirectResponseCode
    7 scheme_redirect string
    8 port_redirect uint32
    9 regex_rewrite envoy.type.matcher.v3.RegexMatchAndSubstitute
envoy.config.route.v3.RetryPolicy
    1 retry_on string
    2 num_retries google.protobuf.UInt32Value
    3 per_try_timeout google.protobuf.Duration
    5 retry_host_predicate *envoy.config.route.v3.RetryPolicy.RetryHostPredicate
    6 host_selection_retry_max_attempts int64
envoy.config.route.v3.RetryPolicy.RetryHostPredicate
    1 name string
    3 typed_config google.protobuf.Any
envoy.config.route.v3.Route
    1 match envoy.config.route.v3.RouteMatch
    2 route envoy.config.route.v3.RouteAction
    3 redirect envoy.config.route.v3.RedirectAction
    7 direct_response envoy.config.route.v3.DirectResponseAction
    9 request_headers_to_add *envoy.config.core.v3.HeaderValueOption
    10 response_headers_to_add *envoy.config.core.v3.HeaderValueOption
    11 response_headers_to_remove *string
    12 request_headers_to_remove *string
    13 typed_per_filter_config map:google.protobuf.Any
    14 name string
envoy.config.route.v3.RouteAction
    1 cluster string
    3 weighted_clusters envoy.config.route.v3.WeightedCluster
    6 host_rewrite_literal string
    8 timeout google.protobuf.Duration
    9 retry_policy envoy.config.route.v3.RetryPolicy
    20 cluster_not_found_response_code envoy.config.route.v3.RouteAction.ClusterNotFoundResponseCode
    24 idle_timeout google.protobuf.Duration
    30 request_mirror_policies *envoy.config.route.v3.RouteAction.RequestMirrorPolicy
    32 regex_rewrite envoy.type.matcher.v3.RegexMatchAndSubstitute
envoy.config.route.v3.RouteAction.RequestMirrorPolicy
    1 cluster string
    3 runtime_fraction envoy.config.core.v3.RuntimeFractionalPercent
envoy.config.route.v3.RouteConfiguration
    1 name string
    2 virtual_hosts *envoy.config.route.v3.VirtualHost
    11 max_direct_response_body_size_bytes google.protobuf.UInt32Value
    14 ignore_port_in_host_matching bool
envoy.config.route.v3.RouteMatch
    1 prefix string
    2 path string
    6 headers *envoy.config.route.v3.HeaderMatcher
    7 query_parameters *envoy.config.route.v3.QueryParameterMatcher
    8 grpc envoy.config.route.v3.RouteMatch.GrpcRouteMatchOptions
    10 safe_regex envoy.type.matcher.v3.RegexMatcher
    14 path_separated_prefix string
envoy.config.route.v3.RouteMatch.GrpcRouteMatchOptions
envoy.config.route.v3.VirtualHost
    1 name string
    2 domains *string
    3 routes *envoy.config.route.v3.Route
envoy.config.route.v3.WeightedCluster
    1 clusters *envoy.config.route.v3.WeightedCluster.ClusterWeight
envoy.config.route.v3.WeightedCluster.ClusterWeight
    1 name string
    2 weight google.protobuf.UInt32Value
    4 request_headers_to_add *envoy.config.core.v3.HeaderValueOption
    5 response_headers_to_add *envoy.config.core.v3.HeaderValueOption
    6 response_headers_to_remove *string
    9 request_headers_to_remove *string
envoy.extensions.filters.http.cors.v3.Cors
envoy.extensions.filters.http.cors.v3.CorsPolicy
    1 allow_origin_string_match *envoy.type.matcher.v3.StringMatcher
    2 allow_methods string
    3 allow_headers string
    4 expose_headers string
    5 max_age string
    6 allow_credentials google.protobuf.BoolValue
    10 forward_not_matching_preflights google.protobuf.BoolValue
envoy.extensions.filters.http.router.v3.Router
envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector
envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
    2 stat_prefix string
    3 rds envoy.extensions.filters.network.http_connection_manager.v3.Rds
    5 http_filters *envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter
    9 http2_protocol_options envoy.config.core.v3.Http2ProtocolOptions
    10 server_name string
    14 use_remote_address google.protobuf.BoolValue
    23 upgrade_configs *envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.UpgradeConfig
    24 stream_idle_timeout google.protobuf.Duration
    30 normalize_path google.protobuf.BoolValue
    33 merge_slashes bool
    35 common_http_protocol_options envoy.config.core.v3.HttpProtocolOptions
    41 request_headers_timeout google.protobuf.Duration
    45 path_with_escaped_slashes_action envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.PathWithEscapedSlashesAction
envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.UpgradeConfig
    1 upgrade_type string
envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter
    1 name string
    4 typed_config google.protobuf.Any
envoy.extensions.filters.network.http_connection_manager.v3.Rds
    1 config_source envoy.config.core.v3.ConfigSource
    2 route_config_name string
envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
    1 stat_prefix string
    2 cluster string
    8 idle_timeout google.protobuf.Duration
    10 weighted_clusters envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster
envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster
    1 clusters *envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight
envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight
    1 name string
    2 weight uint32
envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate
envoy.extensions.transport_sockets.tls.v3.CommonTlsContext
    1 tls_params envoy.extensions.transport_sockets.tls.v3.TlsParameters
    4 alpn_protocols *string
    6 tls_certificate_sds_secret_configs *envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig
envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
    1 common_tls_context envoy.extensions.transport_sockets.tls.v3.CommonTlsContext
envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig
    1 name string
    2 sds_config envoy.config.core.v3.ConfigSource
envoy.extensions.transport_sockets.tls.v3.Secret
    1 name string
    2 tls_certificate envoy.extensions.transport_sockets.tls.v3.TlsCertificate
envoy.extensions.transport_sockets.tls.v3.TlsCertificate
    1 certificate_chain envoy.config.core.v3.DataSource
    2 private_key envoy.config.core.v3.DataSource
envoy.extensions.transport_sockets.tls.v3.TlsParameters
    1 tls_minimum_protocol_version envoy.extensions.transport_sockets.tls.v3.TlsParameters.TlsProtocol
envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    3 explicit_http_config envoy.extensions.upstreams.http.v3.HttpProtocolOptions.ExplicitHttpConfig
envoy.extensions.upstreams.http.v3.HttpProtocolOptions.ExplicitHttpConfig
    2 http2_protocol_options envoy.config.core.v3.Http2ProtocolOptions
envoy.service.discovery.v3.DeltaDiscoveryRequest
    2 type_url string
    3 resource_names_subscribe *string
    4 resource_names_unsubscribe *string
    5 initial_resource_versions map:string
    6 response_nonce string
    7 error_detail google.rpc.Status
envoy.service.discovery.v3.DeltaDiscoveryResponse
    2 resources *envoy.service.discovery.v3.Resource
    4 type_url string
    5 nonce string
    6 removed_resources *string
envoy.service.discovery.v3.Resource
    1 version string
    2 resource google.protobuf.Any
    3 name string
envoy.type.matcher.v3.RegexMatchAndSubstitute
    1 pattern envoy.type.matcher.v3.RegexMatcher
    2 substitution string
envoy.type.matcher.v3.RegexMatcher
    2 regex string
envoy.type.matcher.v3.StringMatcher
    1 exact string
    2 prefix string
    3 suffix string
    5 safe_regex envoy.type.matcher.v3.RegexMatcher
envoy.type.v3.FractionalPercent
    1 numerator uint32
    2 denominator envoy.type.v3.FractionalPercent.DenominatorType
google.rpc.Status
    1 code int32
    2 message string
"""
ENUMERATIONS = """
envoy.config.cluster.v3.Cluster.DiscoveryType
    0 STATIC
    1 STRICT_DNS
    2 LOGICAL_DNS
    3 EDS
    4 ORIGINAL_DST
envoy.config.cluster.v3.Cluster.LbPolicy
    0 ROUND_ROBIN
    1 LEAST_REQUEST
    2 RING_HASH
    3 RANDOM
    5 MAGLEV
    6 CLUSTER_PROVIDED
    7 LOAD_BALANCING_POLICY_CONFIG
envoy.config.core.v3.ApiVersion
    0 AUTO
    1 V2
    2 V3
envoy.config.core.v3.HeaderValueOption.HeaderAppendAction
    0 APPEND_IF_EXISTS_OR_ADD
    1 ADD_IF_ABSENT
    2 OVERWRITE_IF_EXISTS_OR_ADD
    3 OVERWRITE_IF_EXISTS
envoy.config.core.v3.HttpProtocolOptions.HeadersWithUnderscoresAction
    0 ALLOW
    1 REJECT_REQUEST
    2 DROP_HEADER
envoy.config.route.v3.RedirectAction.RedirectResponseCode
    0 MOVED_PERMANENTLY
    1 FOUND
    2 SEE_OTHER
    3 TEMPORARY_REDIRECT
    4 PERMANENT_REDIRECT
envoy.config.route.v3.RouteAction.ClusterNotFoundResponseCode
    0 SERVICE_UNAVAILABLE
    1 NOT_FOUND
    2 INTERNAL_SERVER_ERROR
envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.PathWithEscapedSlashesAction
    0 IMPLEMENTATION_SPECIFIC_DEFAULT
    1 KEEP_UNCHANGED
    2 REJECT_REQUEST
    3 UNESCAPE_AND_REDIRECT
    4 UNESCAPE_AND_FORWARD
envoy.extensions.transport_sockets.tls.v3.TlsParameters.TlsProtocol
    0 TLS_AUTO
    1 TLSv1_0
    2 TLSv1_1
    3 TLSv1_2
    4 TLSv1_3
envoy.type.v3.FractionalPercent.DenominatorType
    0 HUNDRED
    1 TEN_THOUSAND
    2 MILLION
"""
