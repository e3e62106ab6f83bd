{#- One text key from several columns; a null differs from every value. -#}
{% macro surrogate_key(columns) -%}
    md5(concat_ws('|'{% for column in columns %}, coalesce(cast({{ column }} as varchar), '~'){% endfor %}))
{%- endmacro %}

{#- What was tested, as far as a run shares it with its repetitions: DESIGN's "configuration" without the method. -#}
{% macro configuration_columns() -%}
    {{ return([
        'product', 'product_version', 'protocol', 'backend', 'backend_version', 'threading', 'threads',
        'packet_queue_size', 'ha_mode', 'scenario', 'testbed', 'tool', 'tool_version',
    ]) }}
{%- endmacro %}

{% macro columns_of(relation, columns) -%}
    {% for column in columns %}{{ relation }}.{{ column }}{{ ",\n        " if not loop.last }}{% endfor %}
{%- endmacro %}

{#- A person's name for a configuration, e.g. "ISC Kea 2.2.0 DHCPv4 memfile multi x4 hot-standby". -#}
{% macro configuration_label() -%}
    concat_ws(
        ' ', product, product_version, protocol, backend,
        case
            when threading = 'multi' and threads is not null then 'multi x' || cast(threads as varchar)
            else threading
        end,
        case when ha_mode <> 'none' then ha_mode end,
        case when scenario <> 'basic' then scenario end,
        unnamed_folder
    )
{%- endmacro %}
